// Folding of repeated parts of a graph: chains and layers of equal nodes become one, "x 32".
#pragma once

#include "edges/edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// Equal blocks in a row, or side by side.
struct RepeatedBlock {
    std::uint32_t block; ///< the first of them
    std::uint32_t times;
    EdgeKind kind = EdgeKind::full;    ///< of the edge from the part before it in a row
    EdgeKind between = EdgeKind::full; ///< of the edges between these blocks in a row
};

/// A part of a folded graph: a node, parts one after the other, or parts side by side.
struct Block {
    enum class Form : std::uint8_t { node, row, beside };
    Form form = Form::node;
    std::uint32_t node = 0; ///< of a node
    std::vector<RepeatedBlock> parts = {};
};

struct FoldedGraph {
    std::vector<Block> blocks;       ///< the nodes first, by their indices
    std::vector<std::uint32_t> tops; ///< the blocks inside no other one
    std::vector<EdgeRecord> edges;   ///< between them
};

/// Folds a graph. `looks` are numbers by node: equal nodes have equal ones. Nodes one after the other, without
/// branches, become a row; nodes or rows with the same predecessors and successors stand side by side; and so on with
/// the results. Equal neighbours in a row, or groups of up to 64 of them, and equal parts side by side become one part.
/// The rest keeps its edges. The edges are acyclic. Takes nodes + edges for each level of nesting, at most 64.
[[nodiscard]] FoldedGraph folded(const std::vector<std::uint32_t>& looks, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
