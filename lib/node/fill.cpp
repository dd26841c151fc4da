// Fills of memory.
#include "fill.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

cudaMemsetParams runtime_params(const SetParams& set) noexcept {
    cudaMemsetParams params{};
    params.dst = set.destination;
    params.value = set.value;
    params.elementSize = set.element_bytes;
    params.width = set.size;
    params.height = set.height;
    params.pitch = set.pitch;
    return params;
}

} // namespace

std::string problem_of(const SetParams& set) {
    if (set.size == 0 || set.height == 0) return "a memset of 0 elements; leave it out";
    if (set.destination == nullptr) return "the destination is null";
    if (set.height == 1) return {};
    if (set.pitch < set.size * set.element_bytes)
        return fmt::format(
            "the pitch is {} bytes, a row of {} elements has {}; a pitch counts bytes, and is at least a row",
            set.pitch, set.size, set.size * set.element_bytes);
    if (set.pitch % set.element_bytes != 0)
        return fmt::format("the pitch of {} bytes is no multiple of the elements' {}", set.pitch, set.element_bytes);
    return {};
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SetParams& set) {
    const cudaMemsetParams native = runtime_params(set);
    return {cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &native), "cudaGraphAddMemsetNode"};
}

NativeResult set_native(const NodeTarget& target, const SetParams& set) {
    const cudaMemsetParams native = runtime_params(set);
    if (target.exec != nullptr)
        return {cudaGraphExecMemsetNodeSetParams(target.exec, target.node, &native),
                "cudaGraphExecMemsetNodeSetParams"};
    return {cudaGraphMemsetNodeSetParams(target.node, &native), "cudaGraphMemsetNodeSetParams"};
}

SetParams read_set(cudaGraphNode_t node) {
    cudaMemsetParams native{};
    checked<GraphError>(cudaGraphMemsetNodeGetParams(node, &native), "cudaGraphMemsetNodeGetParams");
    return {native.dst, native.width, native.elementSize, native.value, native.height, native.pitch, 1};
}

std::string title(const SetParams& set) {
    return fmt::format("memset {}{} x {} bytes", set.size / set.parts,
                       set.height == 1 ? "" : fmt::format(" x {}", set.height), set.element_bytes * set.parts);
}

} // namespace cudag::detail
