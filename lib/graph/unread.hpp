// Records of a captured graph that nobody has asked for yet.
#pragma once

#include <atomic>

namespace cudag::detail {

class GraphState;

/// What is still to be read from CUDA of a graph whose nodes cudag did not make. Threads may ask, and read, at once.
class Unread {
  public:
    Unread() = default;
    virtual ~Unread() = default;
    Unread(const Unread&) = delete;
    Unread& operator=(const Unread&) = delete;

    [[nodiscard]] bool nodes() const noexcept { return nodes_.load(std::memory_order_acquire); }
    [[nodiscard]] bool edges() const noexcept { return edges_.load(std::memory_order_acquire); }

    /// Whose records are made: for its constructor, before anybody asks.
    void set_graph(GraphState& graph) noexcept { graph_ = &graph; }
    /// Makes the graph's records of nodes, if that is still to be done. Throws GraphError if CUDA cannot describe them.
    virtual void read_nodes() = 0;
    /// Makes those of its edges, of which CUDA tells in calls of their own; likewise.
    virtual void read_edges() = 0;

  protected:
    [[nodiscard]] GraphState& graph() const noexcept { return *graph_; }
    void set_nodes_read() noexcept { nodes_.store(false, std::memory_order_release); }
    void set_edges_read() noexcept { edges_.store(false, std::memory_order_release); }

  private:
    GraphState* graph_ = nullptr;
    std::atomic<bool> nodes_ = true;
    std::atomic<bool> edges_ = true;
};

} // namespace cudag::detail
