// Known memory accesses of the nodes of a graph.
#include "node_accesses.hpp"

#include "declarations.hpp"
#include "graph/allocations.hpp"
#include "graph/condition_arguments.hpp"
#include "graph/conditions.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

constexpr std::uintptr_t first_condition = std::uintptr_t{1} << 62U;

/// The block of a condition, above all addresses of programs.
MemoryBlock condition_cell(cudaGraphConditionalHandle handle) {
    return {first_condition + static_cast<std::uintptr_t>(handle) % first_condition, 1};
}

/// By node: the largest size that may drive it, in elements; 0 if undriven. Empty if no node is driven.
std::vector<std::size_t> most_elements(const GraphState& graph) {
    std::vector<std::size_t> most;
    records_of(graph).bindings().for_each_driven_size([&](std::uint32_t node, std::size_t elements) {
        most.resize(records_of(graph).nodes().size());
        most[node] = std::max(most[node], elements);
    });
    return most;
}

/// By node: the memory it frees; empty if the graph frees nothing.
std::vector<const GraphAllocation*> freed_by_nodes(const GraphState& graph) {
    std::vector<const GraphAllocation*> freed;
    for (const GraphAllocation& memory : records_of(graph).allocations().list()) {
        if (!memory.free) continue;
        freed.resize(records_of(graph).nodes().size());
        freed[*memory.free] = &memory;
    }
    return freed;
}

using TakenConditions = std::vector<std::pair<std::uint32_t, cudaGraphConditionalHandle>>;

/// The conditions among a kernel's arguments; empty for other nodes.
TakenConditions taken_conditions(const GraphState& root, const NodeParams& params) {
    TakenConditions taken;
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
        for_each_condition(
            root, *(*kernel)->signature, (*kernel)->values,
            [&](std::uint32_t argument, cudaGraphConditionalHandle handle) { taken.emplace_back(argument, handle); });
    return taken;
}

/// Whether a node in the tree of `root` sets the same conditions with both parameters.
bool take_same_conditions(const GraphState& root, const NodeParams& a, const NodeParams& b) {
    return conditions_of(root).all().empty() || taken_conditions(root, a) == taken_conditions(root, b);
}

/// The known signature of `kernel`, which may come from another graph.
const KernelSignature& layout_of(const NodePlace& place, const KernelParams& kernel) {
    const KernelSignature& known = known_signature(*place.graph, place.index, kernel);
    return same_layout(known, *kernel.signature) ? known : *kernel.signature;
}

/// Calls `use` with each ArgumentAccess. `conditions` are those of the root.
template <class Use>
void for_each_use(const NodePlace& place, const NodeParams& params, const Conditions& conditions,
                  ArrayAddresses& arrays, const Use& use) {
    for_each_block(params, use);
    if (!conditions.all().empty()) {
        const GraphState& root = root_of(*place.graph);
        if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
            for_each_condition(root, layout_of(place, **kernel), (*kernel)->values,
                               [&](std::uint32_t argument, cudaGraphConditionalHandle handle) {
                                   use(ArgumentAccess{argument, AccessMode::write, 1, condition_cell(handle)});
                               });
        if (const auto* const* conditional = std::get_if<const ConditionalParams*>(&params))
            use(ArgumentAccess{whole_node, AccessMode::read, 1, condition_cell((*conditional)->condition)});
    }
    if (const auto* const* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        if ((*copy)->dstArray != nullptr)
            use(ArgumentAccess{0, AccessMode::write, 1,
                               arrays.block((*copy)->dstArray, (*copy)->dstPos, (*copy)->extent)});
        if ((*copy)->srcArray != nullptr)
            use(ArgumentAccess{1, AccessMode::read, 1,
                               arrays.block((*copy)->srcArray, (*copy)->srcPos, (*copy)->extent)});
    }
    if (const auto* const* alloc = std::get_if<const AllocParams*>(&params))
        use(ArgumentAccess{0, AccessMode::write, 1, block_at((*alloc)->address, (*alloc)->bytes)});
}

/// Calls `use` with each NodeAccess, node after node.
template <class Use>
class Collector {
  public:
    Collector(const GraphState& graph, const InForce& in_force, ArrayAddresses& arrays, const Use& use,
              Sizes sizes = Sizes::in_force)
        : graph_(graph), conditions_(conditions_of(root_of(graph))), in_force_(in_force), arrays_(arrays), use_(use),
          sizes_(sizes) {}

    /// `of`: the nodes to visit, or null for all.
    void run(const std::vector<bool>* of = nullptr) {
        read_all(graph_);
        add_all(graph_, std::nullopt, of);
    }

  private:
    /// Adds the accesses of all nodes of `graph`: as those of `holder`, the node around them, if given, otherwise as
    /// their own.
    void add_all(const GraphState& graph, std::optional<std::uint32_t> holder, const std::vector<bool>* of) {
        const std::vector<const GraphAllocation*> freed = freed_by_nodes(graph);
        std::vector<std::size_t> most;
        if (sizes_ == Sizes::most) most = most_elements(graph);
        const auto count = static_cast<std::uint32_t>(records_of(graph).nodes().size());
        const bool has_nested = !nested_of(graph).empty();
        for (std::uint32_t i = 0; i < count; ++i) {
            if (of != nullptr && !(*of)[i]) continue;
            const std::uint32_t node = holder.value_or(i);
            region_ = holder ? 0 : in_force_.region({&graph, i});
            add(node, {&graph, i}, most.empty() ? 0 : most[i]);
            if (!freed.empty() && freed[i] != nullptr)
                note(node, {&graph, i}, {0, AccessMode::write, 1, {freed[i]->address, freed[i]->bytes}});
            if (!has_nested) continue;
            for (const auto& inner : nested_in(graph, i))
                add_all(*inner, node, nullptr);
        }
    }

    /// `most`: the elements of a copy or fill in place of the effective ones; 0: the effective ones.
    void add(std::uint32_t node, const NodePlace& place, std::size_t most) {
        const auto note_use = [&](const ArgumentAccess& access) { note(node, place, access); };
        const NodeParams& params = in_force_.params(place);
        if (most == 0)
            for_each_use(place, params, conditions_, arrays_, note_use);
        else
            use_with_elements(params, most,
                              [&](const auto& next) { for_each_use(place, &next, conditions_, arrays_, note_use); });
        in_force_.for_each_declared(place, [&](const ArgumentAccess& access) {
            if (access.unit == 0 || place.graph != &graph_) // nodes inside belong to the node around them
                note(node, place, access);
            else
                of_units_.push_back(access);
        });
        if (!of_units_.empty()) note_units(node, place);
    }
    void note(std::uint32_t node, const NodePlace& place, const ArgumentAccess& access) {
        if (!access.block.is_empty()) use_(node_access(node, place, access, region_, false));
    }
    void note_units(std::uint32_t node, const NodePlace& place) {
        std::stable_partition(of_units_.begin(), of_units_.end(), is_write);
        for (const ArgumentAccess& access : of_units_)
            if (!access.block.is_empty()) use_(node_access(node, place, access, region_, true));
        of_units_.clear();
    }
    static bool is_write(const ArgumentAccess& access) { return access.mode == AccessMode::write; }

    const GraphState& graph_;
    const Conditions& conditions_; ///< of the root
    const InForce& in_force_;
    ArrayAddresses& arrays_;
    const Use& use_;
    Sizes sizes_;
    std::uint32_t region_ = 0;             ///< of the current node
    std::vector<ArgumentAccess> of_units_; ///< of one node
};

} // namespace

std::vector<NodeAccess> accesses_of(const GraphState& graph, const InForce& in_force, ArrayAddresses& arrays,
                                    const std::vector<bool>* of) {
    std::vector<NodeAccess> all;
    const auto use = [&](const NodeAccess& access) { all.push_back(access); };
    Collector(graph, in_force, arrays, use).run(of);
    return all;
}

NodeAccess node_access(std::uint32_t node, const NodePlace& place, const ArgumentAccess& access, std::uint32_t region,
                       bool by_region) {
    const bool is_of_unit = by_region && access.unit != 0;
    return {{node, access.mode, access.block, is_of_unit ? access.unit : 0, is_of_unit ? 0 : region},
            place,
            access.argument,
            access.element_bytes};
}

bool is_condition_cell(const MemoryBlock& block) noexcept {
    return block.begin >= first_condition && block.begin < 2 * first_condition;
}

MemoryBlock ArrayAddresses::block(cudaArray_t array, const cudaPos& from, const cudaExtent& extent) {
    constexpr std::size_t row = std::size_t{1} << 21U, slice = std::size_t{1} << 37U, all = std::size_t{1} << 51U;
    const std::size_t number = numbers_.try_emplace(array, numbers_.size()).first->second;
    const std::uintptr_t base = (std::uintptr_t{1} << 63U) + number * all;
    return {base + from.z * slice + from.y * row + from.x, extent.width, extent.height, row, extent.depth, slice};
}

AccessList access_list_of(const GraphState& graph, Sizes sizes) {
    AccessList all;
    all.reserve(records_of(graph).initial_accesses().size());
    const auto use = [&](const MemoryAccess& access) { all.add(access); };
    ArrayAddresses arrays;
    Collector(graph, graph_in_force, arrays, use, sizes).run();
    return all;
}

std::vector<bool> driven_nodes(const GraphState& graph) {
    std::vector<bool> driven;
    const auto note = [&](std::uint32_t node) {
        driven.resize(records_of(graph).nodes().size());
        driven[node] = true;
    };
    records_of(graph).bindings().for_each_driven_size([&](std::uint32_t node, std::size_t) { note(node); });
    for (const auto& inner : nested_of(graph))
        if (!driven_nodes(*inner).empty()) note(tree_of(*inner).parent_node());
    return driven;
}

std::vector<ArgumentAccess> accesses_of(const NodePlace& node, const NodeParams& params, ArrayAddresses& arrays) {
    std::vector<ArgumentAccess> accesses;
    for_each_use(node, params, conditions_of(root_of(*node.graph)), arrays, [&](const ArgumentAccess& access) {
        if (!access.block.is_empty()) accesses.push_back(access);
    });
    return accesses;
}

bool have_same_accesses(const GraphState& graph, const NodeParams& a, const NodeParams& b) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&a);
    const auto* const* other = std::get_if<const KernelParams*>(&b);
    if (kernel != nullptr && other != nullptr) // only conditions are known of their accesses
        return *kernel == *other || take_same_conditions(root_of(graph), a, b);
    if (a == b) return true;
    const auto few_of = [](const NodeParams& params) {
        ArgumentAccesses few;
        for_each_block(params, [&](const ArgumentAccess& access) { few.push_back(access); });
        return few;
    };
    const bool has_array = std::holds_alternative<const cudaMemcpy3DParms*>(a);
    return !has_array && std::ranges::equal(few_of(a), few_of(b)) && take_same_conditions(root_of(graph), a, b);
}

} // namespace cudag::detail
