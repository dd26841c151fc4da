// The host memory used by copies of a graph.
#include "host_memory.hpp"

#include "graph/for_each_graph.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag {

namespace detail {

std::array<std::optional<HostSide>, 2> host_sides_of(const NodeParams& params) {
    std::array<std::optional<HostSide>, 2> sides;
    const auto add = [&](MemoryArgument argument, cudaMemcpyKind kind, const void* data, std::size_t row,
                         std::size_t extent) {
        const cudaMemcpyKind across = argument == 0 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
        const bool is_host = kind == across || kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault;
        if (is_host && data != nullptr) sides[argument] = {argument, data, row, extent};
    };
    if (const auto* const* copy = std::get_if<const CopyParams*>(&params)) {
        const CopyParams& c = **copy;
        const std::size_t to = c.destination_size * c.element_bytes, from = c.source_size * c.element_bytes;
        add(0, c.kind, c.destination, to, to);
        add(1, c.kind, c.source, from, from);
    } else if (const auto* const* volume = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        const cudaMemcpy3DParms& c = **volume;
        const std::size_t row = c.extent.width, rows = c.extent.height, slices = c.extent.depth;
        const auto extent = [&](const cudaPitchedPtr& memory) {
            if (row == 0 || rows == 0 || slices == 0) return std::size_t{0};
            return ((slices - 1) * memory.ysize + rows - 1) * memory.pitch + row;
        };
        if (c.dstArray == nullptr) add(0, c.kind, c.dstPtr.ptr, row, extent(c.dstPtr));
        if (c.srcArray == nullptr) add(1, c.kind, c.srcPtr.ptr, row, extent(c.srcPtr));
    }
    return sides;
}

std::vector<cudag::HostMemory> all_host_memory_of(const GraphState& graph) {
    std::vector<cudag::HostMemory> found;
    for_each_graph(graph, [&](const GraphState& each) {
        for (std::uint32_t i = 0; i < records_of(each).nodes().size(); ++i)
            for_each_host_side(records_of(each).params(i), [&](const HostSide& side, cudaMemoryType type) {
                found.push_back({identity_of(each).handle(i), side.argument, side.data, side.bytes,
                                 type == cudaMemoryTypeUnregistered});
            });
    });
    return found;
}

} // namespace detail

std::string to_string(const HostMemory& memory) {
    return fmt::format("{}: the {}, {} byte{} of {} host memory at {}", to_string(memory.node),
                       memory.argument % 2 == 0 ? "destination" : "source", memory.bytes, memory.bytes == 1 ? "" : "s",
                       memory.is_pageable ? "pageable" : "page-locked", memory.data);
}

} // namespace cudag
