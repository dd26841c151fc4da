// Graphs of nodes that keep addresses in structures of their own: Exec::bind captures them again.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cudag {

class Graph;

}

namespace cudag::detail {

/// Memory that `Exec::bind` replaces. `owner` keeps the other memory, if it is not borrowed.
struct MovedRange {
    std::uintptr_t begin;
    std::size_t bytes;
    std::uintptr_t next;
    std::shared_ptr<const void> owner;
};

/// Makes a graph of the same nodes with other memory. Immutable.
class CUDAG_EXPORT Recapture {
  public:
    Recapture() = default;
    Recapture(const Recapture&) = delete;
    Recapture& operator=(const Recapture&) = delete;
    virtual ~Recapture();

    /// Returns a graph of the nodes of this one. Where `made`, the graph as it was added, has memory in `moved`, the
    /// result has the other memory. Throws an error of cudag if it cannot.
    [[nodiscard]] virtual Graph with_moved(const Recapture& made, std::span<const MovedRange> moved) const = 0;
};

/// Lets `Exec::bind` capture `graph` again, where it is the child of a node.
CUDAG_EXPORT void set_recapture(const Graph& graph, std::shared_ptr<const Recapture> recapture);

} // namespace cudag::detail
