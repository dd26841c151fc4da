// A conditional node whose bodies are being written: it stays if all of them end well.
#pragma once

#include "graph/graph_state.hpp"

#include <cudag/condition.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cudag::detail {

class NewConditional {
  public:
    /// Adds the node with `bodies` empty bodies, or throws GraphError and adds nothing.
    NewConditional(GraphState& graph, ConditionalKind kind, const Condition& condition, std::size_t bodies,
                   const SourceLocation& where);
    /// Removes the node, and what is inside it, unless it was kept.
    ~NewConditional();
    NewConditional(const NewConditional&) = delete;
    NewConditional& operator=(const NewConditional&) = delete;

    /// Body `number`, which takes nodes from now on, while the graph around it takes none.
    [[nodiscard]] std::shared_ptr<GraphState> open_body(std::size_t number);
    /// Checks the open body, which takes no more nodes. Throws GraphError for what `build()` would refuse in a graph.
    void close_body();
    /// Ends the writing; the node stays.
    Node keep() noexcept;

  private:
    void add_bodies(cudaGraph_t const* natives, std::size_t count, int device);
    void remove() noexcept;

    GraphState& graph_;
    std::size_t conditions_before_;
    std::uint32_t index_;
    std::shared_ptr<GraphState> body_;
    bool kept_ = false;
};

} // namespace cudag::detail
