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
    /// last that wrote what it reads, and after all that read, or the last that wrote, what it writes.
    ///   - A condition counts as memory: kernels that take it write it, and its conditional reads it.
    ///   - Events, semaphores and device-updatable kernels keep their place in the program: they come after all nodes
    ///     added before them, and before all nodes added after them.
    ///   - Where a DynamicParam drives a copy or fill, the size counts that the node was made with, which is the most.
    ///   - A node with raw pointers, or one that CUDA does not tell about, is ordered by what it says: see `.reads` and
    ///     `.writes`. `graph.untracked()` lists such nodes.
    ///   - A captured region takes part as one node, which does what its nodes do.
    ///   - Where 32 nodes or more must come before each of 32 others or more, a join (an empty node with the label
    ///     "inferred join") stands between them, so that there are n + m edges instead of n * m. In a graph with memory
    ///     nodes, which CUDA never removes a node from, there are no such joins.
    inferred,
};

struct BuilderOptions {
    Races races = Races::refused;
    Dependencies dependencies = Dependencies::as_written;
};

} // namespace cudag
