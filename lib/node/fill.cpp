// Fills of memory.
#include "fill.hpp"

#include <fmt/format.h>

#include <bit>

namespace cudag::detail {

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

namespace {

cudaMemsetParams runtime_params(const SetParams& set) noexcept {
    cudaMemsetParams native{};
    native.dst = set.destination;
    native.value = set.value;
    native.elementSize = set.element_bytes;
    native.width = set.size;
    native.height = set.height;
    native.pitch = set.pitch;
    return native;
}

} // namespace

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SetParams& set,
                        std::span<const cudaGraphNode_t> after) {
    const cudaMemsetParams native = runtime_params(set);
    const FillNodeCalls& calls = driver().fills;
    return {calls.add(&node, graph, after.data(), after.size(), &native), calls.add_name};
}

NativeResult set_native(const NodeTarget& target, const SetParams& set) {
    const cudaMemsetParams native = runtime_params(set);
    const FillNodeCalls& calls = driver().fills;
    if (target.exec != nullptr) return {calls.exec_set(target.exec, target.node, &native), calls.exec_set_name};
    return {calls.set(target.node, &native), calls.set_name};
}

SetParams read_set(cudaGraphNode_t node) {
    const CUDA_MEMSET_NODE_PARAMS_v2 native = read_native_node(node, CU_GRAPH_NODE_TYPE_MEMSET).memset;
    return {std::bit_cast<void*>(native.dst),
            native.width,
            native.elementSize,
            native.value,
            native.height,
            native.pitch,
            1};
}

std::string title(const SetParams& set) {
    return fmt::format("memset {}{} x {} bytes", set.size / set.parts,
                       set.height == 1 ? "" : fmt::format(" x {}", set.height), set.element_bytes * set.parts);
}

} // namespace cudag::detail
