// The host memory used by copies of a graph.
#pragma once

#include "cuda/failure.hpp"
#include "node/node_params.hpp"

#include <cudag/host_memory.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Memory on one side of a copy, on the host by the copy's direction.
struct HostSide {
    MemoryArgument argument;
    const void* data;
    std::size_t bytes;  ///< of one row
    std::size_t extent; ///< from the first byte to the last
};
/// The sides of a copy that may be on the host; none for other nodes.
[[nodiscard]] std::array<std::optional<HostSide>, 2> host_sides_of(const NodeParams& params);

/// Calls `use(side, type)` for each side on the host, page-locked or not. Throws GraphError.
template <class Use>
void for_each_host_side(const NodeParams& params, const Use& use) {
    const auto look_at = [&](const HostSide& side) {
        cudaPointerAttributes attributes{};
        checked<GraphError>(cudaPointerGetAttributes(&attributes, side.data), "cudaPointerGetAttributes");
        if (attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered)
            use(side, attributes.type);
    };
    for (const std::optional<HostSide>& side : host_sides_of(params))
        if (side) look_at(*side);
    const auto* const* batch = std::get_if<const CopyBatchParams*>(&params);
    for (std::uint32_t i = 0; batch != nullptr && i < (*batch)->count; ++i) {
        const CopyOfBatch& each = (*batch)->operations[i];
        if (each.bytes == 0) continue;
        look_at({2 * i, each.destination, each.bytes, each.bytes});
        look_at({2 * i + 1, each.source, each.bytes, each.bytes});
    }
}

/// Returns the host memory of `graph` and all graphs inside it, in order of the nodes. Throws GraphError.
[[nodiscard]] std::vector<cudag::HostMemory> all_host_memory_of(const GraphState& graph);

} // namespace cudag::detail
