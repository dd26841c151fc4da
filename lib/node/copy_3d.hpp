// Copies of several dimensions, or of arrays, in CUDA's description.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"
#include "used_range.hpp"

#include <cudag/detail/copy_3d.hpp>

#include <algorithm>
#include <string>

namespace cudag::detail {

[[nodiscard]] cudaMemcpy3DParms runtime_params(const Copy3D& copy) noexcept;

/// The problem if the extents differ or are 0, a side is null, or a pitch is too small; empty if there is none.
[[nodiscard]] std::string problem_of(const Copy3D& copy);
inline constexpr const char* only_1d_in_exec =
    "CUDA updates 1D copies only; change the Graph with Graph::update, and instantiate() it again";
/// The reason why a body does not accept such a copy, and the remedy; null if it does. Throws GraphError if CUDA fails.
[[nodiscard]] const char* why_not_in_body(const cudaMemcpy3DParms& copy);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaMemcpy3DParms& copy);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const cudaMemcpy3DParms& copy);
/// Reads any memcpy node.
[[nodiscard]] cudaMemcpy3DParms read_copy(cudaGraphNode_t node);

/// The names of the fields of one side.
struct SideNames {
    const char* address;
    const char* array;
    const char* position;
    const char* pitch;
    const char* slice_height;
};
inline constexpr SideNames destination_names{"destination", "destination array", "destination position",
                                             "destination pitch", "destination slice height"};
inline constexpr SideNames source_names{"source", "source array", "source position", "source pitch",
                                        "source slice height"};

template <auto memory, auto array, auto position, class Visitor>
constexpr void side_fields(const SideNames& names, Visitor& visit) {
    visit.field(names.address, member<memory, &cudaPitchedPtr::ptr>, fixed(only_1d_in_exec));
    visit.field(names.array, member<array>, fixed(only_1d_in_exec));
    visit.field(names.position, member<position>, fixed(only_1d_in_exec));
    visit.field(names.pitch, member<memory, &cudaPitchedPtr::pitch>, fixed(only_1d_in_exec));
    visit.field(names.slice_height, member<memory, &cudaPitchedPtr::ysize>, fixed(only_1d_in_exec));
    visit.ignored(member<memory, &cudaPitchedPtr::xsize>); // CUDA copies the extent
}

template <class Visitor>
constexpr void fields(const cudaMemcpy3DParms&, Visitor& visit) {
    using Copy = cudaMemcpy3DParms;
    visit.field("direction", member<&Copy::kind>, fixed(only_1d_in_exec));
    side_fields<&Copy::dstPtr, &Copy::dstArray, &Copy::dstPos>(destination_names, visit);
    side_fields<&Copy::srcPtr, &Copy::srcArray, &Copy::srcPos>(source_names, visit);
    visit.field("extent", member<&Copy::extent>, fixed(only_1d_in_exec));
}
/// "memcpy 16 bytes x 3 rows x 2 slices"; elements instead of bytes if an array takes part.
[[nodiscard]] std::string title(const cudaMemcpy3DParms& copy);

/// Calls `use` for each side in memory. Sides that are arrays are left to the caller.
template <class Use>
void for_each_block(const cudaMemcpy3DParms& copy, const Use& use) {
    const cudaExtent& extent = copy.extent;
    const bool arrays = copy.dstArray != nullptr || copy.srcArray != nullptr; // then CUDA counts elements
    const auto use_side = [&](std::uint32_t argument, const cudaPitchedPtr& memory, const cudaPos& from,
                              AccessMode mode) {
        if (memory.ptr == nullptr) return;
        const std::size_t slice = memory.ysize * memory.pitch;
        const std::size_t first = from.z * slice + from.y * memory.pitch + (arrays ? 0 : from.x);
        use(ArgumentAccess{argument,
                           mode,
                           1,
                           {reinterpret_cast<std::uintptr_t>(memory.ptr) + first, arrays ? memory.xsize : extent.width,
                            extent.height, memory.pitch, extent.depth, slice}});
    };
    use_side(0, copy.dstPtr, copy.dstPos, AccessMode::write);
    use_side(1, copy.srcPtr, copy.srcPos, AccessMode::read);
}

} // namespace cudag::detail
