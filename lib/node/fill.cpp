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

CUgraphNodeParams native_params(const SetParams& set) {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_MEMSET);
    params.memset.ctx = current_context(); // CUDA finds none for memory of an alloc node (seen on driver 580)
    params.memset.dst = std::bit_cast<CUdeviceptr>(set.destination);
    params.memset.value = set.value;
    params.memset.elementSize = set.element_bytes;
    params.memset.width = set.size;
    params.memset.height = set.height;
    params.memset.pitch = set.pitch;
    return params;
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
