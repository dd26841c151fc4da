// Functions for nodes that a test has the driver lack.
#include "node_functions.hpp"

#include "call.hpp"
#include "text.hpp"

#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cudart_cpu {

namespace {

NodeFunctions default_node_functions() {
    const char* const value = std::getenv("CUDART_CPU_NODE_FUNCTIONS");
    const std::string_view word = value == nullptr ? "" : value;
    if (word.empty()) return NodeFunctions::all;
    if (word == "general") return NodeFunctions::general;
    if (word == "by-kind") return NodeFunctions::by_kind;
    std::fprintf(stderr, "cudart-cpu: CUDART_CPU_NODE_FUNCTIONS is \"%s\"; it may be general or by-kind\n", value);
    std::abort();
}

std::atomic<NodeFunctions>& functions_there() {
    static std::atomic<NodeFunctions> there{default_node_functions()};
    return there;
}

/// What CUDA 13.5 announces as deprecated: 40 functions of the runtime, which begin with "cuda", and of the driver with
/// "cu"; the driver has 4 for batches of memory operations in addition.
constexpr std::string_view of_one_kind[] = {
    "GraphAddKernelNode",
    "GraphKernelNodeGetParams",
    "GraphKernelNodeSetParams",
    "GraphAddMemcpyNode",
    "GraphMemcpyNodeGetParams",
    "GraphMemcpyNodeSetParams",
    "GraphAddMemsetNode",
    "GraphMemsetNodeGetParams",
    "GraphMemsetNodeSetParams",
    "GraphAddHostNode",
    "GraphHostNodeGetParams",
    "GraphHostNodeSetParams",
    "GraphAddChildGraphNode",
    "GraphChildGraphNodeGetGraph",
    "GraphAddEmptyNode",
    "GraphAddEventRecordNode",
    "GraphEventRecordNodeGetEvent",
    "GraphEventRecordNodeSetEvent",
    "GraphAddEventWaitNode",
    "GraphEventWaitNodeGetEvent",
    "GraphEventWaitNodeSetEvent",
    "GraphAddExternalSemaphoresSignalNode",
    "GraphExternalSemaphoresSignalNodeGetParams",
    "GraphExternalSemaphoresSignalNodeSetParams",
    "GraphAddExternalSemaphoresWaitNode",
    "GraphExternalSemaphoresWaitNodeGetParams",
    "GraphExternalSemaphoresWaitNodeSetParams",
    "GraphAddMemAllocNode",
    "GraphMemAllocNodeGetParams",
    "GraphAddMemFreeNode",
    "GraphMemFreeNodeGetParams",
    "GraphExecKernelNodeSetParams",
    "GraphExecMemcpyNodeSetParams",
    "GraphExecMemsetNodeSetParams",
    "GraphExecHostNodeSetParams",
    "GraphExecChildGraphNodeSetParams",
    "GraphExecEventRecordNodeSetEvent",
    "GraphExecEventWaitNodeSetEvent",
    "GraphExecExternalSemaphoresSignalNodeSetParams",
    "GraphExecExternalSemaphoresWaitNodeSetParams",
    "GraphAddBatchMemOpNode",
    "GraphBatchMemOpNodeGetParams",
    "GraphBatchMemOpNodeSetParams",
    "GraphExecBatchMemOpNodeSetParams",
};
constexpr std::string_view of_any_kind[] = {
    "cuGraphAddNode",
    "cuGraphNodeSetParams",
    "cuGraphExecNodeSetParams",
    "cuGraphNodeGetParams",
};

} // namespace

void set_node_functions(NodeFunctions there) {
    functions_there() = there;
}

namespace detail {

bool is_missing(std::string_view function) noexcept {
    const NodeFunctions there = functions_there().load(std::memory_order_relaxed);
    if (there == NodeFunctions::all) [[likely]]
        return false;
    if (there == NodeFunctions::by_kind) return std::ranges::find(of_any_kind, function) != std::end(of_any_kind);
    // Before 13.2 the runtime reads copies by no other function.
    if (CUDART_VERSION < 13020 && function == "cudaGraphMemcpyNodeGetParams") return false;
    for (const std::string_view prefix : {"cuda", "cu"})
        if (function.starts_with(prefix) &&
            std::ranges::find(of_one_kind, function.substr(prefix.size())) != std::end(of_one_kind))
            return true;
    return false;
}

void refuse_missing(const char* function) {
    if (is_missing(function)) [[unlikely]]
        fail(cudaErrorNotSupported, text("cudart-cpu: ", function, " is missing, by CUDART_CPU_NODE_FUNCTIONS"));
}

} // namespace detail

} // namespace cudart_cpu
