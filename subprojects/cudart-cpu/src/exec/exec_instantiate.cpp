// The instantiation of graphs.
#include "exec_instantiate.hpp"
#include "capture/capture_rules.hpp"
#include "exec_launch.hpp"
#include "exec_model.hpp"
#include "graph/graph_alloc_work.hpp"
#include "graph/graph_conditional_work.hpp"
#include "runtime/cuda_versions.hpp"
#include "runtime/driver_version.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

/// The reason why a graph cannot be instantiated.
struct InstantiateFailure {
    cudaGraphInstantiateResult result;
    cudaGraphNode_t node;
    std::string reason;
};

void validate_flags(unsigned long long flags) {
    constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                         cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
    if ((flags & ~known) != 0)
        throw InstantiateFailure{cudaGraphInstantiateError, nullptr, text("Invalid instantiation flags: ", flags)};
    constexpr unsigned long long excluding =
        cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch;
    if ((flags & excluding) == excluding)
        throw InstantiateFailure{cudaGraphInstantiateError, nullptr,
                                 "CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH cannot be used with "
                                 "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH"};
}

const Node* find_cycle(const Graph& graph);

const Node* find_cycle_in_bodies(const Graph& graph) {
    for (const auto& node : graph.nodes())
        for (const auto& body : node->bodies)
            if (const Node* in_cycle = find_cycle(*body)) return in_cycle;
    return nullptr;
}

/// Returns the node of a cycle that was added first; null if there is no cycle.
const Node* find_cycle(const Graph& graph) {
    std::unordered_map<const Node*, std::size_t> missing;
    std::vector<const Node*> ready;
    for (const auto& node : graph.nodes()) {
        if (node->dependencies.empty())
            ready.push_back(node.get());
        else
            missing.emplace(node.get(), node->dependencies.size());
    }
    while (!ready.empty()) {
        const Node* node = ready.back();
        ready.pop_back();
        for (const Node* dependent : node->dependents) {
            const auto left = missing.find(dependent);
            if (--left->second == 0) {
                ready.push_back(dependent);
                missing.erase(left);
            }
        }
    }
    if (missing.empty()) return find_cycle_in_bodies(graph);
    // All remaining nodes are in a cycle or behind one: from dependency to dependency, every way leads into a cycle.
    const auto before = [&](const Node* node) {
        return *std::find_if(node->dependencies.begin(), node->dependencies.end(),
                             [&](const Node* dependency) { return missing.contains(dependency); });
    };
    const Node* in_cycle = missing.begin()->first;
    for (std::size_t steps = missing.size(); steps > 0; --steps)
        in_cycle = before(in_cycle);
    const Node* first = in_cycle;
    for (const Node* node = before(in_cycle); node != in_cycle; node = before(node))
        first = node->handle < first->handle ? node : first;
    return first;
}

/// Counts the nodes without bodies in the graph and its bodies. Sets `device` to the device of the first one.
std::size_t validate_nodes_for_device(const Graph& graph, std::optional<int>& device) {
    std::size_t working = 0;
    for (const auto& node : graph.nodes()) {
        if (std::string reason = node->work->refuse_device_launch(); !reason.empty())
            throw InstantiateFailure{cudaGraphInstantiateNodeOperationNotSupported, node->handle, std::move(reason)};
        for (const auto& body : node->bodies)
            working += validate_nodes_for_device(*body, device);
        if (!node->bodies.empty()) continue;
        ++working;
        if (!device) device = node->work->device();
        if (*device != node->work->device())
            throw InstantiateFailure{cudaGraphInstantiateMultipleDevicesNotSupported, node->handle,
                                     "Device graphs must reside on a single device"};
    }
    return working;
}

void validate_for_device(const Graph& graph) {
    std::optional<int> device;
    if (validate_nodes_for_device(graph, device) == 0)
        throw InstantiateFailure{cudaGraphInstantiateError, nullptr,
                                 "Device graphs must contain at least one non-empty node"};
}

/// `graph` is a body of a conditional node, or inside one.
void validate_body(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
        if (auto refused = node->work->refuse_in_body())
            throw InstantiateFailure{refused->result, node->handle, std::move(refused->reason)};
        for (const auto& body : node->bodies)
            validate_body(*body);
    }
}

void validate_bodies(const Graph& graph) {
    for (const auto& node : graph.nodes())
        for (const auto& body : node->bodies) {
            if (node->work->type() == ConditionalWork::node_type)
                validate_body(*body);
            else
                validate_bodies(*body);
        }
}

void validate_conditionals(const Graph& graph) {
    if (const auto unused = find_unused_condition(graph))
        throw InstantiateFailure{driver_version() < 12080 ? cudaGraphInstantiateError
                                                          : compat::instantiate_conditional_handle_unused,
                                 nullptr, text("Conditional handle ", unused, " has no node")};
    validate_bodies(graph);
}

void validate_operands(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
        if (std::string reason = node->work->refuse_exec(); !reason.empty())
            throw InstantiateFailure{cudaGraphInstantiateError, nullptr, std::move(reason)};
        for (const auto& body : node->bodies)
            validate_operands(*body);
    }
}

void refuse_second_exec(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
        if (std::string reason = node->work->refuse_second_exec(); !reason.empty())
            fail(cudaErrorNotSupported, std::move(reason));
        for (const auto& body : node->bodies)
            refuse_second_exec(*body);
    }
}

/// A real driver crashes at a lost body.
void require_no_lost_body(const Graph& graph) {
    for (const auto& node : graph.nodes())
        for (const auto& body : node->bodies) {
            if (body->is_lost) fail(cudaErrorInvalidValue, "a capture into the body of a node has failed");
            require_no_lost_body(*body);
        }
}

std::shared_ptr<Exec> instantiate(const Graph& graph, unsigned long long flags) {
    refuse_unsafe_call_under_lock();
    validate_flags(flags);
    if (graph.owner())
        fail(cudaErrorNotSupported, "hGraph is owned by another graph and cannot be independently instantiated");
    require_no_lost_body(graph);
    if (const Node* node = find_cycle(graph))
        throw InstantiateFailure{cudaGraphInstantiateInvalidStructure, is_in_body(node->graph) ? nullptr : node->handle,
                                 text("Source graph contains a circular dependency through node ", node->handle)};
    validate_conditionals(graph);
    if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) validate_for_device(graph);
    if (!graph.exec.expired()) refuse_second_exec(graph);
    validate_operands(graph);
    auto exec = std::make_shared<Exec>(graph, flags);
    graph.exec = exec->claim;
    if (graph.holds_memory()) fix_allocations(graph);
    return exec;
}

cudaError_t instantiate_with_flags(const char* name, cudaGraphExec_t* exec, cudaGraph_t graph,
                                   unsigned long long flags) noexcept {
    return graph_api(name, [&] {
        require_pointer(exec, "pGraphExec");
        if ((flags & cudaGraphInstantiateFlagUpload) != 0)
            fail(cudaErrorInvalidValue, "This API does not support the upload flag");
        try {
            *exec = register_exec(instantiate(graph_of(graph), flags));
        } catch (const InstantiateFailure& failure) {
            fail(cudaErrorInvalidValue, failure.reason);
        }
    });
}

} // namespace

void instantiate_with_params(cudaGraphExec_t& exec, cudaGraph_t graph, cudaGraphInstantiateParams& params) {
    params.result_out = cudaGraphInstantiateError;
    params.errNode_out = nullptr;
    try {
        const auto made = instantiate(graph_of(graph), params.flags);
        if ((params.flags & cudaGraphInstantiateFlagUpload) != 0) enqueue_upload(*made, stream_of(params.uploadStream));
        exec = register_exec(made);
    } catch (const InstantiateFailure& failure) {
        params.result_out = failure.result;
        params.errNode_out = failure.node;
        fail(cudaErrorInvalidValue, failure.reason);
    }
    params.result_out = cudaGraphInstantiateSuccess;
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                          unsigned long long flags) {
    return instantiate_with_flags("cudaGraphInstantiate", pGraphExec, graph, flags);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                                   unsigned long long flags) {
    return instantiate_with_flags("cudaGraphInstantiateWithFlags", pGraphExec, graph, flags);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                                                    cudaGraphInstantiateParams* instantiateParams) {
    return graph_api("cudaGraphInstantiateWithParams", [&] {
        require_pointer(pGraphExec, "pGraphExec");
        require_pointer(instantiateParams, "instantiateParams");
        instantiate_with_params(*pGraphExec, graph, *instantiateParams);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags) {
    return graph_api("cudaGraphExecGetFlags", [&] {
        require_pointer(flags, "flags");
        // CUDA reports only these two flags.
        *flags = exec_of(graphExec).flags() &
                 (cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch);
    });
}
