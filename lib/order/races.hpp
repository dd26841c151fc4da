// Races between the nodes of a graph.
#pragma once

#include "node_accesses.hpp"

#include <cudag/race.hpp>

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// A race from two conflicting accesses of nodes of `graph`.
[[nodiscard]] Race make_race(const GraphState& graph, const NodeAccess& a, const NodeAccess& b);

/// The races between the nodes of `graph`, not between nodes inside one of them; at most `most`: see find_races. Reads
/// a captured graph.
[[nodiscard]] std::vector<Race> races_of(const GraphState& graph, std::size_t most);
/// The races in `graph` and in all graphs inside it.
[[nodiscard]] std::vector<Race> all_races_of(const GraphState& graph);
[[nodiscard]] std::vector<UntrackedArgument> all_untracked_of(const GraphState& graph);

/// Throws RaceError, with `action` in its text, if there are races in `graph` or in the bodies of its conditionals.
void refuse_races(const GraphState& graph, const char* action);

} // namespace cudag::detail
