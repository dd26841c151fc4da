// Looks for races that changes of nodes would make.
#include "race_watch.hpp"

#include "races.hpp"

namespace cudag::detail {

RaceWatch::Level& RaceWatch::level_of(const GraphState& graph) {
    if (const auto known = levels_.find(&graph); known != levels_.end()) return known->second;
    Level& level = levels_.try_emplace(&graph, graph).first->second;
    if (level.order.is_line()) return level;
    try {
        const NodeAccesses accesses = detail::accesses_of(graph, in_force_, arrays_);
        for (std::size_t i = 0; i < accesses.list.size(); ++i) {
            const NodePlace& place = accesses.origins[i].place;
            level.of_node[{place.graph, place.index}].push_back(
                level.index.add({accesses.list[i], accesses.origins[i]}));
        }
    } catch (...) {
        levels_.erase(&graph);
        throw;
    }
    return level;
}

void RaceWatch::stage(const NodePlace& node, const NodeParams& params, std::span<const ArgumentAccess> declared) {
    std::vector<ArgumentAccess> next = accesses_of(params, arrays_);
    next.insert(next.end(), declared.begin(), declared.end());
    std::uint32_t holder = node.index;
    for (const GraphState* graph = node.graph; graph != nullptr; graph = graph->parent()) {
        if (Level& level = level_of(*graph); !level.order.is_line()) stage(level, holder, node, next);
        holder = graph->parent_node();
    }
}

void RaceWatch::stage(Level& level, std::uint32_t node, const NodePlace& origin,
                      const std::vector<ArgumentAccess>& next) {
    Places& current = level.of_node[{origin.graph, origin.index}];
    staged_.reserve(staged_.size() + 1);
    Places places;
    places.reserve(next.size());
    staged_.push_back({&level, &current, std::move(places)});
    for (Index::Place& place : current)
        (*place).leaves = true;
    std::vector<MemoryAccess> accesses;
    for (const ArgumentAccess& access : next)
        accesses.push_back({node, access.mode, access.region, &level.graph == origin.graph ? access.unit : 0});
    settle_units(accesses);
    for (std::size_t i = 0; i < next.size(); ++i)
        staged_.back().next.push_back(
            level.index.add({accesses[i], {origin, next[i].argument, next[i].element_bytes}}));
}

std::optional<Race> RaceWatch::find() {
    std::optional<Race> race;
    for (const Staged& staged : staged_)
        for (const Index::Place& place : staged.next) {
            const Entry& fresh = *place;
            staged.level->index.for_each_overlapping(fresh.access, [&](const Entry& other) {
                if (race || other.leaves || !conflicts(fresh.access, other.access)) return;
                if (staged.level->order.are_ordered(fresh.access.node, other.access.node)) return;
                race = make_race(staged.level->graph, fresh.access, fresh.origin, other.access, other.origin);
            });
            if (race) return race;
        }
    return race;
}

void RaceWatch::commit() noexcept {
    for (Staged& staged : staged_) {
        for (const Index::Place& place : *staged.current)
            Index::remove(place);
        *staged.current = std::move(staged.next);
    }
    staged_.clear();
}

void RaceWatch::roll_back() noexcept {
    for (const Staged& staged : staged_) {
        for (const Index::Place& place : *staged.current)
            (*place).leaves = false;
        for (const Index::Place& place : staged.next)
            Index::remove(place);
    }
    staged_.clear();
}

} // namespace cudag::detail
