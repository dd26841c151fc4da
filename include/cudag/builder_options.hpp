// How a GraphBuilder orders nodes, and what it refuses.
#pragma once

#include <cstdint>

namespace cudag {

/// What `build()` does about nodes that nothing orders and of which one writes memory that the other uses, and then
/// updates of nodes of the graph, its clones and its Execs; nodes that change together (bind, apply, a child's graph)
/// are looked at together. A whole graph that an Exec takes was looked at when it was built. Whatever GraphBuilders may
/// refuse, `graph.races()` tells.
enum class Races : std::uint8_t {
    refused, ///< throws RaceError
    allowed,
};

/// Where the edges of a graph come from.
enum class Dependencies : std::uint8_t {
    as_written, ///< from `.after` alone
    /// From `.after`, and from what nodes do to memory, in the order in which they were added: a node comes after the
    /// last that wrote what it reads, and after all that read, or the last that wrote, what it writes. A node with raw
    /// pointers, or one that CUDA does not tell about, is ordered by what it says: see `.reads` and `.writes`. A
    /// captured region takes part as one node, which does what its nodes do.
    inferred,
};

struct BuilderOptions {
    Races races = Races::refused;
    Dependencies dependencies = Dependencies::as_written;
};

} // namespace cudag
