// A watch for races caused by changes of nodes.
#include "race_watch.hpp"

#include "accesses/race_search.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "races.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cudag::detail {

namespace {

constexpr std::size_t all_races = std::numeric_limits<std::size_t>::max();

} // namespace

RaceWatch::Level& RaceWatch::level_of(const GraphState& graph) {
    const std::uint64_t version = in_force_.declared_version(graph);
    if (const auto known = levels_.find(&graph); known != levels_.end()) {
        if (known->second.declared_version == version || !staged_.empty()) return known->second;
        levels_.erase(known);
    }
    Level& level = levels_.try_emplace(&graph, graph, version).first->second;
    if (level.order.is_line()) return level;
    try {
        for (const NodeAccess& access : accesses_of(graph, in_force_, arrays_))
            level.of_node[{access.place.graph, access.place.index}].push_back(level.index.add({access}));
    } catch (...) {
        levels_.erase(&graph);
        throw;
    }
    return level;
}

void RaceWatch::stage(const NodePlace& node, const NodeParams& params, std::span<const ArgumentAccess> declared) {
    std::vector<ArgumentAccess> next = accesses_of(node, params, arrays_);
    next.insert(next.end(), declared.begin(), declared.end());
    std::uint32_t holder = node.index;
    for (const GraphState* graph = node.graph; graph != nullptr; graph = tree_of(*graph).parent()) {
        if (Level& level = level_of(*graph); !level.order.is_line()) stage(level, holder, node, next);
        holder = tree_of(*graph).parent_node();
    }
}

void RaceWatch::stage(Level& level, std::uint32_t node, const NodePlace& origin,
                      const std::vector<ArgumentAccess>& next) {
    Places& current = level.of_node[{origin.graph, origin.index}];
    Places places;
    places.reserve(next.size());
    staged_.push_back({&level, &current, std::move(places)});
    const bool is_own = &level.graph == origin.graph; // nodes inside a node belong to it
    const std::uint32_t region = is_own ? in_force_.region(origin) : 0;
    const bool are_as_many = current.size() == next.size();
    if (!are_as_many)
        for (Index::Place& place : current)
            (*place).state = State::leaves;
    for (std::size_t i = 0; i < next.size(); ++i)
        staged_.back().next.push_back(
            stage(level, {node_access(node, origin, next[i], region, is_own)}, are_as_many ? &current[i] : nullptr));
}

/// Replaces the access at `current`, which may be null, by `entry`.
RaceWatch::Index::Place RaceWatch::stage(Level& level, const Entry& entry, Index::Place* current) {
    bool has_moved = false;
    std::uintptr_t distance = 0;
    if (current != nullptr) {
        Entry& former = **current;
        distance = entry.block.begin - former.block.begin;
        MemoryAccess moved = former;
        moved.block.begin = entry.block.begin;
        has_moved = moved == entry;
        if (has_moved && distance == 0 && former.argument == entry.argument) return *current;
        former.state = State::leaves;
    }
    Entry fresh = entry;
    if (has_moved && !level.distance) level.distance = distance;
    fresh.state = has_moved && level.distance == distance ? State::waiting : State::fresh;
    return fresh.state == State::waiting ? level.index.add_waiting(fresh) : level.index.add(fresh);
}

std::optional<Race> RaceWatch::find() {
    std::size_t most_visits = 1000;
    for (const Staged& staged : staged_)
        most_visits += 4 * staged.next.size();
    for (Staged& staged : staged_)
        if (std::optional<Race> race = find(staged, most_visits)) return race;
    return std::nullopt;
}

/// Compares the new accesses of a node with overlapping ones, up to a limit.
std::optional<Race> RaceWatch::find(Staged& staged, std::size_t& most_visits) {
    std::optional<Race> race;
    Level& level = *staged.level;
    for (const Index::Place& place : staged.next) {
        const Entry& fresh = *place;
        if (fresh.state == State::settled) continue;
        level.index.for_each_overlapping(fresh, [&](const Entry& other) {
            if (race || most_visits == 0) return false;
            --most_visits;
            if (other.state == State::leaves || !conflicts(fresh, other)) return true;
            if (level.order.are_ordered(fresh.node, other.node)) return true;
            race = make_race(level.graph, fresh, other);
            return false;
        });
        if (race) return race;
        if (most_visits == 0) return level.was_searched ? std::nullopt : find_anywhere(level);
    }
    return race;
}

/// Searches all accesses of a graph, in time independent of the number of overlaps.
std::optional<Race> RaceWatch::find_anywhere(Level& level) {
    level.was_searched = true;
    std::vector<const Entry*> entries;
    level.index.for_each([&](const Entry& entry) {
        if (entry.state != State::leaves) entries.push_back(&entry);
    });
    std::ranges::stable_sort(
        entries, {}, [](const Entry* entry) { return std::pair(entry->node, entry->mode != AccessMode::write); });
    AccessList accesses;
    accesses.reserve(entries.size());
    for (const Entry* entry : entries)
        accesses.add(*entry);
    const auto is_settled = [&](std::uint32_t access) { return entries[access]->state == State::settled; };
    for (const auto& [first, second] :
         find_races(accesses, records_of(level.graph).nodes().size(), edges_of(level.graph), all_races))
        if (!is_settled(first) || !is_settled(second)) return make_race(level.graph, *entries[first], *entries[second]);
    return std::nullopt;
}

void RaceWatch::commit() noexcept {
    for (Staged& staged : staged_) {
        for (const Index::Place& place : *staged.current)
            if ((*place).state == State::leaves) Index::remove(place);
        for (Index::Place& place : staged.next) {
            if ((*place).state == State::waiting) staged.level->index.put(place);
            (*place).state = State::settled;
        }
        *staged.current = std::move(staged.next);
    }
    end();
}

void RaceWatch::roll_back() noexcept {
    for (const Staged& staged : staged_) {
        for (const Index::Place& place : *staged.current)
            if ((*place).state == State::leaves) (*place).state = State::settled;
        for (const Index::Place& place : staged.next) {
            const State state = (*place).state;
            if (state == State::fresh) Index::remove(place);
            if (state == State::waiting) staged.level->index.remove_waiting(place);
        }
    }
    end();
}

void RaceWatch::end() noexcept {
    for (const Staged& staged : staged_) {
        staged.level->distance.reset();
        staged.level->was_searched = false;
    }
    staged_.clear();
}

} // namespace cudag::detail
