// The edges that a graph under construction gets from what its nodes do to memory.
#pragma once

#include "graph/graph_state.hpp"

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// Adds them to a graph whose edges close no cycle, and to the bodies of its conditionals; takes them back at the end
/// unless they are to stay.
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
        std::size_t before; ///< how many edges there were
        std::size_t nodes_before;
    };
    void add_to(GraphState& graph);
    void take_back() noexcept;

    std::vector<Added> added_;
};

} // namespace cudag::detail
