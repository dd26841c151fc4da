// Collects what nodes do to memory.
#include "node_accesses.hpp"

#include <cstdint>
#include <unordered_map>
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

class Collector {
  public:
    explicit Collector(const GraphState& graph) {
        graph.read_all();
        for (std::uint32_t node = 0; node < graph.nodes().size(); ++node) {
            add(node, graph, node);
            for (const auto& inner : graph.nested_in(node))
                add_all(node, *inner);
        }
    }

    [[nodiscard]] NodeAccesses&& result() && { return std::move(found_); }

  private:
    void add_all(std::uint32_t node, const GraphState& inner) {
        for (std::uint32_t i = 0; i < inner.nodes().size(); ++i) {
            add(node, inner, i);
            for (const auto& nested : inner.nested_in(i))
                add_all(node, *nested);
        }
    }

    void add(std::uint32_t node, const GraphState& graph, std::uint32_t index) {
        const auto use = [&](std::uint32_t argument, AccessMode mode, const MemoryRegion& region, std::size_t element) {
            if (region.is_empty()) return;
            found_.list.push_back({node, mode, region});
            found_.origins.push_back({{&graph, index}, argument, element});
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
        if (std::holds_alternative<const FreeParams*>(params))
            for (const GraphAllocation& memory : graph.allocations().list())
                if (memory.free == index) use(0, AccessMode::write, {memory.address, memory.bytes}, 1);
        graph.for_each_declared(index, [&](const ArgumentAccess& access) {
            use(access.argument, access.mode, access.region, access.element_bytes);
        });
    }

    NodeAccesses found_;
    ArrayAddresses arrays_;
};

} // namespace

NodeAccesses accesses_of(const GraphState& graph) {
    return Collector(graph).result();
}

} // namespace cudag::detail
