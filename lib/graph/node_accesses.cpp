// Collects what nodes do to memory.
#include "node_accesses.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

/// Gives each CUDA array room for all elements that one can have, above all addresses that programs have.
class ArrayAddresses {
  public:
    [[nodiscard]] MemoryRegion region(cudaArray_t array, const cudaPos& from, const cudaExtent& extent) {
        constexpr std::size_t row = std::size_t{1} << 21U, slice = std::size_t{1} << 37U, all = std::size_t{1} << 51U;
        const std::size_t number = numbers_.try_emplace(array, numbers_.size()).first->second;
        const std::uintptr_t base = (std::uintptr_t{1} << 63U) + number * all;
        return {base + from.z * slice + from.y * row + from.x, extent.width, extent.height, row, extent.depth, slice};
    }

  private:
    std::unordered_map<cudaArray_t, std::size_t> numbers_;
};

/// By node: what it frees; empty where the graph frees nothing.
std::vector<const GraphAllocation*> freed_by_nodes(const GraphState& graph) {
    std::vector<const GraphAllocation*> freed;
    for (const GraphAllocation& memory : graph.allocations().list()) {
        if (!memory.free) continue;
        freed.resize(graph.nodes().size());
        freed[*memory.free] = &memory;
    }
    return freed;
}

class Collector {
  public:
    explicit Collector(const GraphState& graph) : graph_(&graph) {
        graph.read_all();
        add_all(graph, std::nullopt);
    }

    [[nodiscard]] NodeAccesses&& result() && { return std::move(found_); }

  private:
    /// All nodes of `graph`, for the node that it is inside of, or for themselves.
    void add_all(const GraphState& graph, std::optional<std::uint32_t> holder) {
        const std::vector<const GraphAllocation*> freed = freed_by_nodes(graph);
        for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
            const std::uint32_t node = holder.value_or(i);
            add(node, graph, i);
            if (!freed.empty() && freed[i] != nullptr)
                note(node, {&graph, i}, 0, AccessMode::write, {freed[i]->address, freed[i]->bytes}, 1);
            for (const auto& inner : graph.nested_in(i))
                add_all(*inner, node);
        }
    }

    void add(std::uint32_t node, const GraphState& graph, std::uint32_t index) {
        const auto use = [&](std::uint32_t argument, AccessMode mode, const MemoryRegion& region, std::size_t element) {
            note(node, {&graph, index}, argument, mode, region, element);
        };
        const NodeParams& params = graph.params(index);
        for_each_region(params, use);
        if (const auto* const* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
            if ((*copy)->dstArray != nullptr)
                use(0, AccessMode::write, arrays_.region((*copy)->dstArray, (*copy)->dstPos, (*copy)->extent), 1);
            if ((*copy)->srcArray != nullptr)
                use(1, AccessMode::read, arrays_.region((*copy)->srcArray, (*copy)->srcPos, (*copy)->extent), 1);
        }
        if (const auto* const* alloc = std::get_if<const AllocParams*>(&params))
            use(0, AccessMode::write, region_at((*alloc)->address, (*alloc)->bytes), 1);
        const std::size_t first = found_.list.size();
        bool has_unit = false;
        graph.for_each_declared(index, [&](const ArgumentAccess& access) {
            use(access.argument, access.mode, access.region, access.element_bytes);
            if (access.unit == 0 || graph_ != &graph) return; // nodes inside are one with the node around them
            found_.list.back().unit = access.unit;
            has_unit = true;
        });
        if (has_unit) settle_unit(std::span(found_.list).subspan(first));
    }

    /// Of what a region declares, reads are as others are, but what its nodes read and write counts as written by each.
    static void settle_unit(std::span<MemoryAccess> accesses) {
        for (MemoryAccess& read : accesses) {
            if (read.unit == 0 || read.mode == AccessMode::write) continue;
            const bool is_written = std::ranges::any_of(accesses, [&](const MemoryAccess& other) {
                return other.unit == read.unit && other.mode == AccessMode::write &&
                       common_bytes(other.region, read.region).has_value();
            });
            if (is_written)
                read.mode = AccessMode::write;
            else
                read.unit = 0;
        }
    }

    void note(std::uint32_t node, const NodePlace& place, std::uint32_t argument, AccessMode mode,
              const MemoryRegion& region, std::size_t element_bytes) {
        if (region.is_empty()) return;
        found_.list.push_back({node, mode, region});
        found_.origins.push_back({place, argument, element_bytes});
    }

    const GraphState* graph_;
    NodeAccesses found_;
    ArrayAddresses arrays_;
};

} // namespace

NodeAccesses accesses_of(const GraphState& graph) {
    return Collector(graph).result();
}

} // namespace cudag::detail
