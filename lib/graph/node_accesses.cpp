// Collects what nodes do to memory.
#include "node_accesses.hpp"

#include "declarations.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

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

/// Calls `use(argument, mode, region, element_bytes)`.
template <class Use>
void for_each_use(const NodeParams& params, ArrayAddresses& arrays, const Use& use) {
    for_each_region(params, use);
    if (const auto* const* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        if ((*copy)->dstArray != nullptr)
            use(0, AccessMode::write, arrays.region((*copy)->dstArray, (*copy)->dstPos, (*copy)->extent), 1);
        if ((*copy)->srcArray != nullptr)
            use(1, AccessMode::read, arrays.region((*copy)->srcArray, (*copy)->srcPos, (*copy)->extent), 1);
    }
    if (const auto* const* alloc = std::get_if<const AllocParams*>(&params))
        use(0, AccessMode::write, region_at((*alloc)->address, (*alloc)->bytes), 1);
}

/// What the nodes of one graph, which are asked for in order, have in force there.
class InGraph {
  public:
    explicit InGraph(const GraphState& graph) : graph_(graph), declared_(graph.declared_as_made()) {}

    [[nodiscard]] const NodeParams& params(std::uint32_t node) const { return graph_.params(node); }
    template <class Use>
    void for_each_declared(std::uint32_t node, const Use& use) {
        if (graph_.updated().find(node) != nullptr) return detail::for_each_declared(graph_, node, use);
        for (const DeclaredAccesses::Entry& entry : declared_.of(node))
            use(entry.access);
    }

  private:
    const GraphState& graph_;
    DeclaredAccesses::Reader declared_;
};

/// The same elsewhere.
class InOthers {
  public:
    InOthers(const GraphState& graph, const NodesInForce& nodes) : graph_(graph), nodes_(nodes) {}

    [[nodiscard]] const NodeParams& params(std::uint32_t node) const { return nodes_.params({&graph_, node}); }
    template <class Use>
    void for_each_declared(std::uint32_t node, const Use& use) const {
        for (const ArgumentAccess& access : nodes_.declared({&graph_, node}))
            use(access);
    }

  private:
    const GraphState& graph_;
    const NodesInForce& nodes_;
};

/// Calls `use(access, origin)` for what one node after another does; `nodes_of(graph)` tells what the nodes of a graph
/// have in force.
template <class NodesOf, class Use>
class Collector {
  public:
    Collector(const GraphState& graph, NodesOf nodes_of, ArrayAddresses& arrays, const Use& use)
        : graph_(graph), nodes_of_(nodes_of), arrays_(arrays), use_(use) {}

    void run() {
        graph_.read_all();
        add_all(graph_, std::nullopt);
    }

  private:
    /// All nodes of `graph`, for the node that it is inside of, or for themselves.
    void add_all(const GraphState& graph, std::optional<std::uint32_t> holder) {
        const std::vector<const GraphAllocation*> freed = freed_by_nodes(graph);
        auto nodes = nodes_of_(graph);
        const auto count = static_cast<std::uint32_t>(graph.nodes().size());
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t node = holder.value_or(i);
            add(node, {&graph, i}, nodes);
            if (!freed.empty() && freed[i] != nullptr)
                note(node, {&graph, i}, {0, AccessMode::write, 1, {freed[i]->address, freed[i]->bytes}});
            for (const auto& inner : graph.nested_in(i))
                add_all(*inner, node);
        }
    }

    template <class Nodes>
    void add(std::uint32_t node, const NodePlace& place, Nodes& nodes) {
        for_each_use(nodes.params(place.index), arrays_,
                     [&](std::uint32_t argument, AccessMode mode, const MemoryRegion& region, std::size_t element) {
                         note(node, place, {argument, mode, element, region});
                     });
        nodes.for_each_declared(place.index, [&](const ArgumentAccess& access) {
            if (access.unit == 0 || place.graph != &graph_) // nodes inside are one with the node around them
                note(node, place, access);
            else
                of_units_.push_back(access);
        });
        if (!of_units_.empty()) note_units(node, place);
    }

    void note(std::uint32_t node, const NodePlace& place, const ArgumentAccess& access) {
        if (!access.region.is_empty()) use_(MemoryAccess{node, access.mode, access.region}, origin_of(place, access));
    }
    void note_units(std::uint32_t node, const NodePlace& place) {
        std::vector<MemoryAccess> accesses;
        for (const ArgumentAccess& access : of_units_)
            accesses.push_back({node, access.mode, access.region, access.unit});
        settle_units(accesses);
        for (std::size_t i = 0; i < accesses.size(); ++i)
            if (!accesses[i].region.is_empty()) use_(accesses[i], origin_of(place, of_units_[i]));
        of_units_.clear();
    }
    static AccessOrigin origin_of(const NodePlace& place, const ArgumentAccess& access) {
        return {place, access.argument, access.element_bytes};
    }

    const GraphState& graph_;
    NodesOf nodes_of_;
    ArrayAddresses& arrays_;
    const Use& use_;
    std::vector<ArgumentAccess> of_units_; ///< of one node
};

template <class NodesOf>
NodeAccesses collect_with_origins(const GraphState& graph, NodesOf nodes_of, ArrayAddresses& arrays) {
    NodeAccesses all;
    const auto use = [&](const MemoryAccess& access, const AccessOrigin& origin) {
        all.list.push_back(access);
        all.origins.push_back(origin);
    };
    Collector(graph, nodes_of, arrays, use).run();
    return all;
}

InGraph in_graph(const GraphState& graph) {
    return InGraph(graph);
}

} // namespace

void settle_units(std::span<MemoryAccess> accesses) {
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

MemoryRegion ArrayAddresses::region(cudaArray_t array, const cudaPos& from, const cudaExtent& extent) {
    constexpr std::size_t row = std::size_t{1} << 21U, slice = std::size_t{1} << 37U, all = std::size_t{1} << 51U;
    const std::size_t number = numbers_.try_emplace(array, numbers_.size()).first->second;
    const std::uintptr_t base = (std::uintptr_t{1} << 63U) + number * all;
    return {base + from.z * slice + from.y * row + from.x, extent.width, extent.height, row, extent.depth, slice};
}

AccessList access_list_of(const GraphState& graph) {
    AccessList all;
    all.reserve(graph.declared_as_made().size());
    const auto use = [&](const MemoryAccess& access, const AccessOrigin&) { all.add(access); };
    ArrayAddresses arrays;
    Collector(graph, in_graph, arrays, use).run();
    return all;
}

NodeAccesses accesses_of(const GraphState& graph) {
    ArrayAddresses arrays;
    return collect_with_origins(graph, in_graph, arrays);
}

NodeAccesses accesses_of(const GraphState& graph, const NodesInForce& in_force, ArrayAddresses& arrays) {
    const auto nodes_of = [&](const GraphState& inner) { return InOthers(inner, in_force); };
    return collect_with_origins(graph, nodes_of, arrays);
}

std::vector<ArgumentAccess> accesses_of(const NodeParams& params, ArrayAddresses& arrays) {
    std::vector<ArgumentAccess> accesses;
    for_each_use(params, arrays,
                 [&](std::uint32_t argument, AccessMode mode, const MemoryRegion& region, std::size_t element) {
                     if (!region.is_empty()) accesses.push_back({argument, mode, element, region});
                 });
    return accesses;
}

bool have_same_accesses(const NodeParams& a, const NodeParams& b) {
    struct Few {
        std::array<ArgumentAccess, 2> list;
        std::size_t count = 0;
        bool operator==(const Few&) const = default;
    };
    const auto few_of = [](const NodeParams& params) {
        Few few{};
        for_each_region(params,
                        [&](std::uint32_t argument, AccessMode mode, const MemoryRegion& region, std::size_t element) {
                            few.list[few.count++] = {argument, mode, element, region};
                        });
        return few;
    };
    const bool has_array = std::holds_alternative<const cudaMemcpy3DParms*>(a);
    return !has_array && few_of(a) == few_of(b);
}

} // namespace cudag::detail
