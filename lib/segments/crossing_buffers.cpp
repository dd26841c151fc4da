// Search for the allocations that several graphs use.
#include "crossing_buffers.hpp"

#include "cuda/driver.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_records.hpp"
#include "graph/node_record.hpp"
#include "handles/buffer_uses.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

using ByAddress = std::map<std::uintptr_t, CrossingBuffer>;

/// Returns the buffer with `address`; `buffers.end()` if there is none.
ByAddress::iterator buffer_at(ByAddress& buffers, std::uintptr_t address) {
    const auto after = buffers.upper_bound(address);
    if (after == buffers.begin()) return buffers.end();
    const auto found = std::prev(after);
    return address - found->first < found->second.bytes ? found : buffers.end();
}

/// Adds the memory that nodes of the graph allocate: it belongs to no allocation of CUDA before the first launch.
void add_graph_memory(const GraphState& graph, std::size_t segment, ByAddress& buffers) {
    for_each_graph(graph, [&](const GraphState& each) {
        for (const NodeRecord& node : records_of(each).nodes())
            if (const auto* alloc = std::get_if<const AllocParams*>(&node.params))
                buffers.try_emplace(reinterpret_cast<std::uintptr_t>((*alloc)->address),
                                    CrossingBuffer{(*alloc)->address, (*alloc)->bytes, segment, segment, true});
    });
}

} // namespace

std::vector<CrossingBuffer> crossing_buffers(std::span<const Graph> graphs) {
    ByAddress buffers;
    std::vector<std::vector<std::uintptr_t>> addresses;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const GraphState& state = Access::state(graphs[i]);
        addresses.push_back(all_addresses(state)); // reads the graph
        add_graph_memory(state, i, buffers);
    }
    bind_context();
    for (std::size_t i = 0; i < graphs.size(); ++i)
        for (const std::uintptr_t address : addresses[i]) {
            auto buffer = buffer_at(buffers, address);
            if (buffer == buffers.end()) {
                CUdeviceptr begin = 0;
                std::size_t bytes = 0;
                if (driver().mem_get_address_range(&begin, &bytes, address) != CUDA_SUCCESS) continue;
                const auto at = static_cast<std::uintptr_t>(begin);
                buffer = buffers.try_emplace(at, CrossingBuffer{reinterpret_cast<const void*>(at), bytes, i, i}).first;
            }
            buffer->second.last = i;
        }
    std::vector<CrossingBuffer> crossing;
    for (auto& [address, buffer] : buffers)
        if (buffer.first != buffer.last) crossing.push_back(std::move(buffer));
    return crossing;
}

} // namespace cudag::detail
