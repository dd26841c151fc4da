// The options of a GraphBuilder: the source of edges, and the treatment of races.
#pragma once

#include <cstdint>

namespace cudag {

/// Whether a race is refused: two unordered nodes use the same memory, and at least one of them writes it.
/// - `build()` checks the whole graph; later, each update of nodes of the Graph, its clones and its Execs is checked.
/// - Nodes that change together (bind, apply, the graph of a child) are checked together.
/// - A whole update of an Exec is not checked again: its source graph was checked when it was built.
/// - `graph.races()` reports races, whether refused or allowed.
enum class Races : std::uint8_t {
    refused, ///< a race throws RaceError
    allowed, ///< races are accepted
};

/// The source of the edges of a graph.
enum class Dependencies : std::uint8_t {
    as_written, ///< edges come from `.after` alone
    /// Edges come from `.after`, and in addition from the nodes' memory accesses, in the order in which nodes were
    /// added. A reader comes after the last writer of its memory. A writer comes after all readers since the last
    /// writer, or after that writer if there were none.
    /// - A condition counts as memory: kernels that take it write it, and its conditional node reads it.
    /// - Event nodes, semaphore nodes and device-updatable kernels keep their place in the program: they come after all
    ///   nodes added before them, and before all nodes added after them.
    /// - A copy or fill driven by a DynamicParam counts with its initial size, the maximum.
    /// - A node with raw pointers, or without accesses known to CUDA, is ordered by its declared accesses: see `.reads`
    ///   and `.writes`. `graph.untracked()` lists such nodes.
    /// - A captured region takes part as one node with the accesses of all its nodes.
    /// - If at least 32 nodes must come before each of at least 32 others, a join (an empty node labelled "inferred
    ///   join") stands between them: n + m edges instead of n * m. Graphs with graph memory nodes get no such joins,
    ///   because CUDA never removes a node from them.
    inferred,
};

/// The options of a GraphBuilder.
///
///     cudag::GraphBuilder inferring({.dependencies = cudag::Dependencies::inferred});
///     inferring.memcpy(x, host).label("upload");
///     inferring.kernel(config, step, x, n); // after the upload
struct BuilderOptions {
    Races races = Races::refused;
    Dependencies dependencies = Dependencies::as_written;
};

} // namespace cudag
