// The host memory used by copies of a graph.
#include "host_memory.hpp"

#include "cuda/failure.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag {

namespace detail {

namespace {

/// One side of a copy.
struct HostSide {
    MemoryArgument argument;
    const void* data;
    std::size_t bytes;
    bool is_host; ///< according to the copy's direction
};

cudaMemoryType type_of(const void* data) {
    cudaPointerAttributes attributes{};
    checked<GraphError>(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
    return attributes.type;
}

std::vector<HostSide> sides_of(const NodeParams& params) {
    const auto is_host = [](cudaMemcpyKind kind, MemoryArgument argument) {
        const cudaMemcpyKind out = argument == 0 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
        return kind == out || kind == cudaMemcpyHostToHost || kind == cudaMemcpyDefault;
    };
    if (const auto* const* copy = std::get_if<const CopyParams*>(&params)) {
        const CopyParams& c = **copy;
        return {{0, c.destination, c.destination_size * c.element_bytes, is_host(c.kind, 0)},
                {1, c.source, c.source_size * c.element_bytes, is_host(c.kind, 1)}};
    }
    if (const auto* const* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        const cudaMemcpy3DParms& c = **copy;
        return {{0, c.dstPtr.ptr, c.extent.width, c.dstArray == nullptr && is_host(c.kind, 0)},
                {1, c.srcPtr.ptr, c.extent.width, c.srcArray == nullptr && is_host(c.kind, 1)}};
    }
    return {};
}

} // namespace

std::vector<cudag::HostMemory> all_host_memory_of(const GraphState& graph) {
    std::vector<cudag::HostMemory> found;
    for_each_graph(graph, [&](const GraphState& each) {
        for (std::uint32_t i = 0; i < records_of(each).nodes().size(); ++i)
            for (const HostSide& side : sides_of(records_of(each).params(i))) {
                if (!side.is_host || side.data == nullptr) continue;
                const cudaMemoryType type = type_of(side.data);
                if (type == cudaMemoryTypeHost || type == cudaMemoryTypeUnregistered)
                    found.push_back({identity_of(each).handle(i), side.argument, side.data, side.bytes,
                                     type == cudaMemoryTypeUnregistered});
            }
    });
    return found;
}

} // namespace detail

std::string to_string(const HostMemory& memory) {
    return fmt::format("{}: the {}, {} byte{} of {} host memory at {}", to_string(memory.node),
                       memory.argument == 0 ? "destination" : "source", memory.bytes, memory.bytes == 1 ? "" : "s",
                       memory.is_pageable ? "pageable" : "page-locked", memory.data);
}

} // namespace cudag
