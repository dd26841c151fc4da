// Unread records: those of a captured graph before their first use.
#pragma once

#include <atomic>

namespace cudag::detail {

class GraphState;

/// The unread part of a graph whose nodes cudag did not make. Threads may ask, and read, concurrently.
class Unread {
  public:
    Unread() = default;
    virtual ~Unread() = default;
    Unread(const Unread&) = delete;
    Unread& operator=(const Unread&) = delete;

    [[nodiscard]] bool nodes() const noexcept { return nodes_.load(std::memory_order_acquire); }
    [[nodiscard]] bool edges() const noexcept { return edges_.load(std::memory_order_acquire); }

    /// Sets the graph of the records: for its constructor, before any use.
    void set_graph(GraphState& graph) noexcept { graph_ = &graph; }
    /// Reads the records of nodes unless this is done. Throws GraphError if CUDA cannot describe them.
    virtual void read_nodes() = 0;
    /// Reads the edges, which need calls of their own, likewise.
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
