// Copies of several dimensions, or of arrays, in CUDA's description.
#include "copy_3d.hpp"

#include "comparison.hpp"
#include "copy.hpp"
#include "cuda/node_calls.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

std::string problem_of_side(const CopySide& side, const char* name, std::size_t element_bytes) {
    if (side.array != nullptr) return {};
    if (side.data == nullptr) return fmt::format("the {} is null", name);
    const cudaExtent& extent = side.extent;
    const std::size_t row = extent.width * element_bytes;
    if ((extent.height > 1 || extent.depth > 1) && side.pitch < row)
        return fmt::format(
            "the {}'s pitch is {} bytes, its rows of {} elements have {}; a pitch counts bytes, and is at "
            "least a row",
            name, side.pitch, extent.width, row);
    if (extent.depth > 1 && side.slice_height < extent.height)
        return fmt::format("the {}'s slice height is {} rows, its height {}; the next slice starts behind the rows of "
                           "this one",
                           name, side.slice_height, extent.height);
    return {};
}

cudaPitchedPtr pitched(const CopySide& side, std::size_t element_bytes) noexcept {
    const std::size_t row = side.extent.width * element_bytes;
    const bool one_slice = side.extent.depth == 1;
    const bool one_row = one_slice && side.extent.height == 1;
    // CUDA checks the pitch of a single row, too
    return {side.data, one_row ? row : side.pitch, row, one_slice ? side.extent.height : side.slice_height};
}

} // namespace

std::string problem_of(const Copy3D& copy) {
    const cudaExtent& to = copy.destination.extent;
    const cudaExtent& from = copy.source.extent;
    if (to.width != from.width || to.height != from.height || to.depth != from.depth)
        return fmt::format("the destination is {} elements, the source {}; both must have the same extents",
                           value_text(to), value_text(from));
    if (from.width == 0 || from.height == 0 || from.depth == 0)
        return fmt::format("a copy of {} elements; leave the copy out", value_text(from));
    std::string problem = problem_of_side(copy.destination, "destination", copy.element_bytes);
    if (problem.empty()) problem = problem_of_side(copy.source, "source", copy.element_bytes);
    return problem;
}

cudaMemcpy3DParms runtime_params(const Copy3D& copy) noexcept {
    const bool arrays = copy.destination.array != nullptr || copy.source.array != nullptr;
    cudaMemcpy3DParms params{};
    params.srcArray = copy.source.array;
    params.srcPos = copy.source.position;
    params.dstArray = copy.destination.array;
    params.dstPos = copy.destination.position;
    if (copy.source.array == nullptr) params.srcPtr = pitched(copy.source, copy.element_bytes);
    if (copy.destination.array == nullptr) params.dstPtr = pitched(copy.destination, copy.element_bytes);
    params.extent = copy.source.extent;
    if (!arrays)
        params.extent.width *= copy.element_bytes; // CUDA counts elements if an array takes part, otherwise bytes
    params.kind = copy.kind;
    return params;
}

const char* why_not_in_body(const cudaMemcpy3DParms& copy) {
    if (copy.dstArray != nullptr || copy.srcArray != nullptr)
        return "it copies an array, which CUDA does not do there; put it before or after that node";
    return is_pageable(copy.dstPtr.ptr) || is_pageable(copy.srcPtr.ptr) ? is_pageable_copy : nullptr;
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaMemcpy3DParms& copy) {
    return {driver().graph_add_copy(&node, graph, &copy), "cudaGraphAddNode"};
}

NativeResult set_native(const NodeTarget& target, const cudaMemcpy3DParms& copy) {
    if (target.exec != nullptr)
        return {driver().graph_exec_copy_set_params(target.exec, target.node, &copy), "cudaGraphExecNodeSetParams"};
    return {driver().graph_copy_set_params(target.node, &copy), "cudaGraphNodeSetParams"};
}

cudaMemcpy3DParms read_copy(cudaGraphNode_t node) {
    cudaMemcpy3DParms native{};
    checked<GraphError>(driver().graph_copy_get_params(node, &native), copy_getter());
    return native;
}

std::string title(const cudaMemcpy3DParms& copy) {
    const bool arrays = copy.dstArray != nullptr || copy.srcArray != nullptr;
    std::string text =
        fmt::format("memcpy {} {} x {} rows", copy.extent.width, arrays ? "elements" : "bytes", copy.extent.height);
    if (copy.extent.depth > 1) text += fmt::format(" x {} slices", copy.extent.depth);
    return text;
}

} // namespace cudag::detail
