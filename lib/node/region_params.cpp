// Copies of several dimensions, or of arrays: what can be wrong with them, and how CUDA is told.
#include "region_params.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

std::string text_of(const cudaExtent& extent) {
    return fmt::format("{} x {} x {}", extent.width, extent.height, extent.depth);
}

std::string problem_of_side(const Region& side, const char* name, std::size_t element_bytes) {
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

cudaPitchedPtr pitched(const Region& side, std::size_t element_bytes) noexcept {
    const std::size_t row = side.extent.width * element_bytes;
    const bool one_row = side.extent.height == 1 && side.extent.depth == 1;
    return {side.data, one_row ? row : side.pitch, row, side.slice_height}; // CUDA minds the pitch of one row, too
}

} // namespace

std::string problem_of(const RegionCopy& copy) {
    const cudaExtent& to = copy.destination.extent;
    const cudaExtent& from = copy.source.extent;
    if (to.width != from.width || to.height != from.height || to.depth != from.depth)
        return fmt::format("the destination is {} elements, the source {}; both must have the same extents",
                           text_of(to), text_of(from));
    if (from.width == 0 || from.height == 0 || from.depth == 0)
        return fmt::format("a copy of {} elements; leave the copy out", text_of(from));
    std::string problem = problem_of_side(copy.destination, "destination", copy.element_bytes);
    if (problem.empty()) problem = problem_of_side(copy.source, "source", copy.element_bytes);
    return problem;
}

cudaMemcpy3DParms runtime_params(const RegionCopy& copy) noexcept {
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
        params.extent.width *= copy.element_bytes; // CUDA counts elements where an array takes part, else bytes
    params.kind = copy.kind;
    return params;
}

std::string describe_extent(const cudaMemcpy3DParms& copy) {
    const bool arrays = copy.dstArray != nullptr || copy.srcArray != nullptr;
    std::string text =
        fmt::format("{} {} x {} rows", copy.extent.width, arrays ? "elements" : "bytes", copy.extent.height);
    if (copy.extent.depth > 1) text += fmt::format(" x {} slices", copy.extent.depth);
    return text;
}

} // namespace cudag::detail
