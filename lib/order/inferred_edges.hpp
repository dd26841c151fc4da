// Edges inferred from memory accesses, for a graph under construction.
#pragma once

#include <cstddef>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Adds the inferred edges to an acyclic graph and to the bodies of its conditionals. Removes them in the destructor,
/// unless `keep` was called.
class InferredEdges {
  public:
    explicit InferredEdges(GraphState& graph);
    ~InferredEdges();
    InferredEdges(const InferredEdges&) = delete;
    InferredEdges& operator=(const InferredEdges&) = delete;

    void keep() noexcept { added_.clear(); }

  private:
    struct Added {
        GraphState* graph;
        std::size_t before; ///< number of edges before
        std::size_t nodes_before;
    };
    void add_to(GraphState& graph);
    void take_back() noexcept;

    std::vector<Added> added_;
};

} // namespace cudag::detail
