// Copies of several dimensions, or of arrays, in CUDA's description.
#pragma once

#include "native_result.hpp"
#include "used_range.hpp"

#include <cudag/detail/copy_3d.hpp>

#include <algorithm>
#include <string>

namespace cudag::detail {

class Fields;

[[nodiscard]] cudaMemcpy3DParms runtime_params(const Copy3D& copy) noexcept;

/// The problem if the extents differ or are 0, a side is null, or a pitch is too small; empty if there is none.
[[nodiscard]] std::string problem_of(const Copy3D& copy);
/// The reason why CUDA cannot update an exec's node from `current` to `next`; empty only if both are equal.
[[nodiscard]] std::string problem_in_exec(const cudaMemcpy3DParms& current, const cudaMemcpy3DParms& next);
inline constexpr const char* only_1d_in_exec =
    "CUDA updates 1D copies only; change the Graph with Graph::update, and instantiate() it again";
/// The reason why a body does not accept such a copy, and the remedy; null if it does. Throws GraphError if CUDA fails.
[[nodiscard]] const char* why_not_in_body(const cudaMemcpy3DParms& copy);

[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaMemcpy3DParms& copy);
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const cudaMemcpy3DParms& copy);
/// Reads any memcpy node.
[[nodiscard]] cudaMemcpy3DParms read_copy(cudaGraphNode_t node);

void compare(const cudaMemcpy3DParms& before, const cudaMemcpy3DParms& after, Fields& fields);
/// "memcpy 16 bytes x 3 rows x 2 slices"; elements instead of bytes if an array takes part.
[[nodiscard]] std::string title(const cudaMemcpy3DParms& copy);

/// Calls `use` for each side in memory. Sides that are arrays are left to the caller.
template <class Use>
void for_each_region(const cudaMemcpy3DParms& copy, const Use& use) {
    const cudaExtent& extent = copy.extent;
    const bool arrays = copy.dstArray != nullptr || copy.srcArray != nullptr; // then CUDA counts elements
    const auto use_side = [&](std::uint32_t argument, const cudaPitchedPtr& memory, const cudaPos& from,
                              AccessMode mode) {
        if (memory.ptr == nullptr) return;
        const std::size_t slice = memory.ysize * memory.pitch;
        const std::size_t first = from.z * slice + from.y * memory.pitch + (arrays ? 0 : from.x);
        use(argument, mode,
            MemoryRegion{reinterpret_cast<std::uintptr_t>(memory.ptr) + first, arrays ? memory.xsize : extent.width,
                         extent.height, memory.pitch, extent.depth, slice},
            std::size_t{1});
    };
    use_side(0, copy.dstPtr, copy.dstPos, AccessMode::write);
    use_side(1, copy.srcPtr, copy.srcPos, AccessMode::read);
}

} // namespace cudag::detail
