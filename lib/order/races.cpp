// Races between the nodes of a graph, and their description.
#include "races.hpp"

#include "accesses/memory_order.hpp"
#include "accesses/race_search.hpp"
#include "cuda/failure.hpp"
#include "declarations.hpp"
#include "graph/conditions.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "graph/names.hpp"
#include "node/rules.hpp"
#include "tracking.hpp"

#include <cudag/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// A name: "argument 1", "the destination", ...
std::string describe_argument(const Node& node, MemoryArgument argument) {
    if (argument == whole_node) return "what it declares";
    switch (node.kind()) {
    case NodeKind::kernel:
        return fmt::format("argument {}", argument);
    case NodeKind::memcpy:
        return argument == 0 ? "the destination" : "the source";
    case NodeKind::memcpy_batch:
        return fmt::format("the {} of copy {}", argument % 2 == 0 ? "destination" : "source", argument / 2);
    case NodeKind::memset:
        return "the destination";
    default:
        return "its memory";
    }
}

std::string describe(const Node& node) {
    return describe_node(GraphIdentity::of(node), GraphIdentity::index_unchecked(node));
}

std::string describe_user(const Node& node, const Node& inside, MemoryArgument argument, bool is_condition) {
    const bool looks_at_it = is_condition && argument == whole_node;
    const std::string which = looks_at_it ? "its condition" : describe_argument(inside, argument);
    if (node == inside) return fmt::format("{} ({})", describe(node), which);
    return fmt::format("{} ({} of {})", describe(node), which, describe(inside));
}

std::string what_they_do(const Race& race) {
    if (race.is_condition && race.first_writes && race.second_writes) return "both may set the condition";
    if (race.is_condition)
        return race.first_writes ? "the first may set the condition, the second reads it"
                                 : "the first reads the condition, the second may set it";
    if (race.first_writes && race.second_writes) return "both write";
    return race.first_writes ? "the first writes, the second reads," : "the first reads, the second writes,";
}

/// The shared elements: "element 3", "elements 3 to 5", "elements 1 to 3 of row 2", "elements from 1 of row 2 to 3 of
/// row 7"
std::string describe_elements(const Race& race) {
    const std::size_t last = race.element + race.elements - 1;
    if (race.row_elements == 0)
        return race.elements == 1 ? fmt::format("element {}", race.element)
                                  : fmt::format("elements {} to {}", race.element, last);
    const std::size_t column = race.element % race.row_elements, last_column = last % race.row_elements;
    const std::size_t row = race.element / race.row_elements, last_row = last / race.row_elements;
    if (race.elements == 1) return fmt::format("element {} of row {}", column, row);
    if (row == last_row) return fmt::format("elements {} to {} of row {}", column, last_column, row);
    return fmt::format("elements from {} of row {} to {} of row {}", column, row, last_column, last_row);
}

/// A place in a block: the row of an address, and its byte in the row. Slices continue the rows.
struct PlaceInRows {
    std::size_t row;
    std::size_t byte;
};
PlaceInRows place_in_rows(const MemoryBlock& block, std::uintptr_t address) {
    std::size_t offset = address - block.begin;
    std::size_t row = 0;
    if (block.slices > 1 && block.slice_pitch != 0) {
        const std::size_t slice = std::min(block.slices - 1, offset / block.slice_pitch);
        offset -= slice * block.slice_pitch;
        row = slice * block.rows;
    }
    const std::size_t row_in_slice =
        block.rows > 1 && block.pitch != 0 ? std::min(block.rows - 1, offset / block.pitch) : 0;
    return {row + row_in_slice, offset - row_in_slice * block.pitch};
}

/// Whether nodes of `graph`, or inside it, may have known accesses.
bool may_have_accesses(const GraphState& graph) {
    return records_of(graph).special().accesses || !nested_of(graph).empty() ||
           !conditions_of(root_of(graph)).all().empty();
}

/// Calls `use(argument)` for each argument of the node that may be an address of undeclared memory.
template <class Use>
void for_each_untracked(const GraphState& graph, std::uint32_t index, const Use& use) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(index));
    if (kernel == nullptr) return;
    const KernelSignature& signature = known_signature(graph, index, **kernel);
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        if (!may_be_address(signature.parameters[i])) continue;
        if (!declares_argument(graph, index, i)) use(i);
    }
}

/// Whether the memory accesses of a node other than a kernel are unknown, from both its kind and declarations.
bool is_undeclared(const GraphState& graph, std::uint32_t index) {
    const Effects effects = rules_of(records_of(graph).nodes()[index].kind).effects;
    if (effects == Effects::nothing || effects == Effects::inside) return false;
    if (effects != Effects::undeclared && !std::holds_alternative<std::monostate>(records_of(graph).params(index)))
        return false;
    bool is_declared = false;
    for_each_declared(graph, index, [&](const ArgumentAccess&) { is_declared = true; });
    return !is_declared;
}

/// Skips children: races inside them were reported when they were built.
void collect(const GraphState& graph, std::size_t most, std::vector<Race>& races) {
    for (Race& race : races_of(graph, most - races.size()))
        races.push_back(std::move(race));
    for (const auto& inner : nested_of(graph))
        if (tree_of(*inner).place() == Place::body && races.size() < most) collect(*inner, most, races);
}

} // namespace

Race make_race(const GraphState& graph, const NodeAccess& a, const NodeAccess& b) {
    if (b.node < a.node) return make_race(graph, b, a);
    const auto race_of = [&](const AddressRange& range, std::size_t element, std::size_t end, std::size_t row) {
        return Race{identity_of(graph).handle(a.node),
                    identity_of(graph).handle(b.node),
                    identity_of(*a.place.graph).handle(a.place.index),
                    identity_of(*b.place.graph).handle(b.place.index),
                    a.argument,
                    b.argument,
                    a.mode != AccessMode::read,
                    b.mode != AccessMode::read,
                    range.begin,
                    range.end - range.begin,
                    element,
                    end - element,
                    row,
                    is_condition_cell(a.block)};
    };
    if (is_condition_cell(a.block)) return race_of({0, 0}, 0, 0, 0);
    const AddressRange range = *common_bytes(a.block, b.block);
    const std::size_t size = a.element_bytes;
    const bool has_rows = a.block.rows > 1 || a.block.slices > 1;
    const std::size_t row_elements = has_rows ? std::max<std::size_t>(a.block.row_bytes / size, 1) : 0;
    const auto element_at = [&](std::uintptr_t address) {
        if (!has_rows) return (address - a.block.begin) / size;
        const auto [row, byte] = place_in_rows(a.block, address);
        return row * row_elements + byte / size;
    };
    return race_of(range, element_at(range.begin), element_at(range.end - 1) + 1, row_elements);
}

std::vector<Race> races_of(const GraphState& graph, std::size_t most) {
    std::vector<Race> races;
    if (!may_have_accesses(graph)) return races;
    if (is_line(records_of(graph).nodes().size(), edges_of(graph))) return races;
    const AccessList accesses = access_list_of(graph);
    const std::vector<Conflict> conflicts =
        find_races(accesses, records_of(graph).nodes().size(), edges_of(graph), most);
    if (conflicts.empty()) return races;
    std::vector<bool> racing(records_of(graph).nodes().size());
    for (const auto& [first, second] : conflicts)
        racing[accesses.node_of(first)] = racing[accesses.node_of(second)] = true;
    ArrayAddresses arrays;
    std::vector<NodeAccess> of_racing = accesses_of(graph, graph_in_force, arrays, &racing);
    std::vector<std::uint32_t> place(accesses.size()); // of an access in `of_racing`
    for (std::uint32_t i = 0, next = 0; i < place.size(); ++i) {
        if (!racing[accesses.node_of(i)]) continue;
        static_cast<MemoryAccess&>(of_racing[next]) = accesses[i]; // arrays have other addresses among fewer nodes
        place[i] = next++;
    }
    for (const auto& [first, second] : conflicts)
        races.push_back(make_race(graph, of_racing[place[first]], of_racing[place[second]]));
    return races;
}

std::vector<Race> all_races_of(const GraphState& graph) {
    std::vector<Race> races;
    for_each_graph(graph, [&](const GraphState& each) {
        for (Race& race : races_of(each, std::numeric_limits<std::size_t>::max()))
            races.push_back(std::move(race));
    });
    return races;
}

std::vector<UntrackedArgument> all_untracked_of(const GraphState& graph) {
    std::vector<UntrackedArgument> untracked;
    for_each_graph(graph, [&](const GraphState& each) {
        for (std::uint32_t i = 0; i < records_of(each).nodes().size(); ++i) {
            for_each_untracked(each, i, [&](MemoryArgument argument) {
                untracked.push_back({identity_of(each).handle(i), argument});
            });
            if (is_undeclared(each, i)) untracked.push_back({identity_of(each).handle(i), whole_node});
        }
    });
    return untracked;
}

void refuse_races(const GraphState& graph, const char* action) {
    if (!may_have_accesses(graph)) return;
    constexpr std::size_t shown = 10;
    std::vector<Race> races;
    collect(graph, shown + 1, races);
    if (races.empty()) return;
    std::string text = to_string(races.front());
    for (std::size_t i = 1; i < std::min(races.size(), shown); ++i)
        text += "\n" + to_string(races[i]);
    if (races.size() > shown) text += "\nand more; in a graph built with Races::allowed, graph.races() lists them all";
    refuse<RaceError>(text, {action,
                             {std::string(races.front().first.label()), std::string(races.front().second.label())},
                             races.front().second.location()});
}

} // namespace detail

std::string to_string(const Race& race) {
    const std::string first = detail::describe(race.first), second = detail::describe(race.second);
    const bool are_kernels =
        race.first_inside.kind() == NodeKind::kernel && race.second_inside.kind() == NodeKind::kernel;
    const std::string which =
        race.is_condition ? "" : fmt::format(" {} of what the first is given there", detail::describe_elements(race));
    return fmt::format(
        "nothing orders {} and {}: {}{}; let {} come .after({}){}",
        detail::describe_user(race.first, race.first_inside, race.first_argument, race.is_condition),
        detail::describe_user(race.second, race.second_inside, race.second_argument, race.is_condition),
        detail::what_they_do(race), which, second, first,
        !race.is_condition && are_kernels && race.first_writes && race.second_writes
            ? ", or give both cudag::disjoint(memory) if they touch different elements, cudag::atomic(memory) if they "
              "change it by atomic operations alone"
            : "");
}

std::string to_string(const UntrackedArgument& untracked) {
    return fmt::format("{}: {}", detail::describe(untracked.node), detail::describe_untracked(untracked.argument));
}

} // namespace cudag
