// A conditional node under construction: it stays if all its bodies end well.
#pragma once

#include <cudag/condition.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cudag::detail {

class GraphState;

/// Whether `graph` is a body, or inside one, that runs repeatedly in each run of its root.
[[nodiscard]] bool is_repeated(const GraphState& graph);

class NewConditional {
  public:
    /// Adds the node with `bodies` empty bodies. Throws GraphError and adds nothing if that fails.
    NewConditional(GraphState& graph, ConditionalKind kind, const Condition& condition, std::size_t bodies,
                   const SourceLocation& where);
    /// Removes the node and everything inside it, unless `keep` was called.
    ~NewConditional();
    NewConditional(const NewConditional&) = delete;
    NewConditional& operator=(const NewConditional&) = delete;

    /// Opens body `number`: from now on it takes nodes, and the graph around it takes none.
    [[nodiscard]] std::shared_ptr<GraphState> open_body(std::size_t number);
    /// Checks the open body and closes it for nodes. Throws GraphError for faults that `build()` would refuse in a
    /// graph.
    void close_body();
    /// Closes a body read from a text. Adds no kernels for its conditions, unlike `close_body`: the text has them.
    void close_loaded_body();
    /// Ends the construction; the node stays.
    Node keep() noexcept;

  private:
    void add_bodies(cudaGraph_t const* natives, std::size_t count, int device);
    void check_body();
    void end_body() noexcept;
    void remove() noexcept;

    GraphState& graph_;
    std::size_t conditions_before_;
    std::uint32_t index_;
    std::shared_ptr<GraphState> body_;
    bool kept_ = false;
};

} // namespace cudag::detail
