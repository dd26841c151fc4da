// The driver's functions for kernel nodes.
#include "driver_functions.hpp"

#include "exec_model.hpp"
#include "graph_params.hpp"

namespace cudart_cpu::detail::driver {

namespace {

template <class Body>
CUresult driver_graph_api(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        const std::lock_guard lock(graph_mutex());
        body();
    }));
}

/// The context that the runtime makes and that every function belongs to.
CUcontext current_context() {
    CUcontext context = nullptr;
    ctx_get_current(&context);
    return context;
}

} // namespace

CUresult graph_add_kernel_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphAddKernelNode", [&] {
        require_pointer(added, "phGraphNode");
        require_pointer(params, "nodeParams");
        Graph& target = graph_of(graph);
        const std::vector<Node*> before = dependencies_of(target, dependencies, count);
        *added = target.add(std::make_shared<KernelWork>(kernel_params(*params)), before).handle;
    });
}

CUresult graph_kernel_node_get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphKernelNodeGetParams", [&] {
        require_pointer(params, "nodeParams");
        const KernelWork& work = shown_kernel(node_of(node));
        *params = {function_of(work.kernel()),
                   work.grid().x,
                   work.grid().y,
                   work.grid().z,
                   work.block().x,
                   work.block().y,
                   work.block().z,
                   work.shared_bytes(),
                   work.arguments().params(),
                   work.arguments().extra(),
                   reinterpret_cast<CUkernel>(const_cast<KernelEntry*>(&work.kernel())),
                   current_context()};
    });
}

CUresult graph_kernel_node_set_params(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphKernelNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        Node& target = node_of(node);
        target.set_work(make_kernel_work(kernel_params(*params), work_of<KernelWork>(target)));
    });
}

CUresult graph_exec_kernel_node_set_params(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphExecKernelNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        Exec& exec = exec_of(handle);
        const std::size_t index = exec.index_of(node);
        const auto& current = work_as<KernelWork>(*exec.states()[index].work);
        exec.update_work(index, make_kernel_work(kernel_params(*params), current));
    });
}

} // namespace cudart_cpu::detail::driver
