// The driver's functions for graphs.
#include "driver_functions.hpp"

#include "capture/capture_rules.hpp"
#include "exec/exec_graph_update.hpp"
#include "exec/exec_instantiate.hpp"
#include "exec/exec_launch.hpp"
#include "exec/exec_model.hpp"
#include "graph/graph_conditional_work.hpp"
#include "graph/graph_params.hpp"
#include "runtime/contexts.hpp"
#include "runtime/number_in.hpp"

namespace cudart_cpu::detail::driver {

namespace {

template <class Body>
CUresult driver_graph_api(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        const std::lock_guard lock(graph_mutex());
        body();
    }));
}

/// Throws unless the thread has a context or the call names one: the real driver refuses some such calls and crashes in
/// others.
void require_context(bool named) {
    if (!named && !has_context()) fail(cudaErrorDeviceUninitialized, "the thread has no current context");
}

bool names_context(const CUgraphNodeParams& params) noexcept {
    return params.type == CU_GRAPH_NODE_TYPE_KERNEL && params.kernel.ctx != nullptr;
}

static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

} // namespace

CUresult graph_add_kernel_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, std::size_t count,
                               const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphAddKernelNode", [&] {
        require_pointer(added, "phGraphNode");
        require_pointer(params, "nodeParams");
        require_context(params->ctx != nullptr);
        Graph& target = graph_of(graph);
        const std::vector<Node*> before = dependencies_of(target, dependencies, count);
        *added = target.add(make_kernel_work(kernel_params(*params)), before).handle;
    });
}

CUresult graph_add_node(CUgraphNode* added, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                        std::size_t count, CUgraphNodeParams* params) {
    return driver_graph_api("cuGraphAddNode", [&] {
        require_pointer(added, "phGraphNode");
        require_pointer(params, "nodeParams");
        require_context(names_context(*params));
        Graph& target = graph_of(graph);
        const std::vector<Node*> before = dependencies_of(target, dependencies, count);
        NodeContent content = make_content(*params, target, before);
        require_operands(*content.work, nullptr);
        const auto* edges = reinterpret_cast<const cudaGraphEdgeData*>(data);
        require_valid_edges(edges, count, [&](std::size_t i) {
            return EdgeEnds{before[i]->work->type(), content.work->type()};
        });
        Node& node = target.add(std::move(content), before, edges);
        *added = node.handle;
        if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) params->conditional.phGraph_out = node.body_handles.data();
    });
}

CUresult graph_node_set_params(CUgraphNode node, CUgraphNodeParams* params) {
    return driver_graph_api("cuGraphNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        Node& target = node_of(node);
        NodeContent content = make_content(*params, target);
        require_operands(*content.work, target.work.get());
        target.set_content(std::move(content));
    });
}

CUresult graph_exec_node_set_params(CUgraphExec handle, CUgraphNode node, CUgraphNodeParams* params) {
    return driver_graph_api("cuGraphExecNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        require_context(names_context(*params));
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
            update_child(exec, state, graph_of(params->graph.graph));
        else
            exec.update_work(state, make_work(*params, *state.work));
    });
}

CUresult graph_node_get_params(CUgraphNode node, CUgraphNodeParams* params) {
    return driver_graph_api("cuGraphNodeGetParams", [&] {
        require_pointer(params, "nodeParams");
        *params = driver_params_of(node_of(node), current_context());
    });
}

CUresult graph_kernel_node_get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphKernelNodeGetParams", [&] {
        require_pointer(params, "nodeParams");
        *params = driver_kernel_params_of(node_of(node), current_context());
    });
}

CUresult graph_kernel_node_set_params(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphKernelNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        Node& target = node_of(node);
        target.set_work(make_kernel_work(kernel_params(*params), work_of<KernelWork>(target)));
    });
}

// The runtime's values are the driver's under other names.
static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaLaunchAttributeValue));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));

CUresult graph_kernel_node_get_attribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value) {
    return driver_graph_api("cuGraphKernelNodeGetAttribute", [&] {
        get_node_attribute(node, number_in(attribute), reinterpret_cast<cudaLaunchAttributeValue*>(value));
    });
}

CUresult graph_kernel_node_set_attribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                         const CUkernelNodeAttrValue* value) {
    return driver_graph_api("cuGraphKernelNodeSetAttribute", [&] {
        set_node_attribute(node, number_in(attribute), reinterpret_cast<const cudaLaunchAttributeValue*>(value));
    });
}

CUresult graph_exec_kernel_node_set_params(CUgraphExec handle, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return driver_graph_api("cuGraphExecKernelNodeSetParams", [&] {
        require_pointer(params, "nodeParams");
        require_context(params->ctx != nullptr);
        Exec& exec = exec_of(handle);
        NodeState& state = exec.state_of(node);
        exec.update_work(state, make_kernel_work(kernel_params(*params), work_as<KernelWork>(*state.work)));
    });
}

CUresult graph_conditional_handle_create(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                         unsigned initial, unsigned flags) {
    return driver_graph_api("cuGraphConditionalHandleCreate", [&] {
        require_pointer(handle, "pHandle_out");
        if (!context) fail(cudaErrorDeviceUninitialized, "NULL is not a valid context");
        *handle = make_condition(graph_of(graph), initial, flags);
    });
}

CUresult graph_instantiate_with_params(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    return driver_graph_api("cuGraphInstantiateWithParams", [&] {
        require_pointer(exec, "phGraphExec");
        require_pointer(params, "instantiateParams");
        require_context(false);
        cudaGraphInstantiateParams runtime{};
        runtime.flags = params->flags;
        runtime.uploadStream = params->hUploadStream;
        const auto report = [&] {
            params->hErrNode_out = runtime.errNode_out;
            params->result_out = static_cast<CUgraphInstantiateResult>(runtime.result_out);
        };
        try {
            instantiate_with_params(*exec, graph, runtime);
        } catch (const Failure&) {
            report();
            throw;
        }
        report();
    });
}

CUresult graph_exec_update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
    return driver_graph_api("cuGraphExecUpdate", [&] {
        if (result != nullptr) *result = {}; // even for an invalid argument, unlike the runtime
        update_exec(exec, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
    });
}

CUresult graph_launch(CUgraphExec exec, CUstream stream) {
    return static_cast<CUresult>(driver_api("cuGraphLaunch", [&] {
        require_context(stream != nullptr);
        launch_exec(exec, stream);
    }));
}

} // namespace cudart_cpu::detail::driver
