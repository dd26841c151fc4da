// A region under capture into a builder's graph: it stays if the capture ends well.
#pragma once

#include "capture/capture_state.hpp"
#include "graph/region_nodes.hpp"

#include <cudag/captured_node.hpp>
#include <cudag/error.hpp>
#include <cudag/stream_capture.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cudag::detail {

class GraphState;

/// A region under capture. CUDA destroys a graph with all its nodes if a capture into it ends badly, so the capture is
/// checked before its end, and the former graph is saved as a clone, which replaces a destroyed graph.
class NewRegion {
  public:
    /// Begins to capture `stream` into `graph`, which takes no other nodes during the lifetime of this object. Throws
    /// GraphError if the graph takes no nodes now, or CaptureError.
    NewRegion(std::shared_ptr<GraphState> graph, cudaStream_t stream, const CaptureOptions& options,
              const SourceLocation& where);
    /// Ends the capture, unless it has ended, and removes its nodes.
    ~NewRegion();
    NewRegion(const NewRegion&) = delete;
    NewRegion& operator=(const NewRegion&) = delete;

    [[nodiscard]] StreamCapture& capture() noexcept { return *capture_; }
    /// Ends the capture; the nodes stay. Throws CaptureError if the capture was broken, left an error unread or is
    /// empty without permission, and GraphError if the graph cannot have one of the nodes; then it gets none of them.
    [[nodiscard]] CapturedNode finish();
    /// Ends the capture, removes its nodes and rethrows `cause`, with a note in the message if the graph is lost. Call
    /// it in the catch block of `cause`.
    [[noreturn]] void fail(const CaptureError& cause);

  private:
    struct Clone;

    void drop() noexcept;
    /// Lists the captured nodes. Call it before the capture ends: afterwards CUDA no longer reports the stream's tail.
    void note_captured() noexcept;
    /// Return the captured nodes in CUDA's order: all of them, or those without records.
    [[nodiscard]] std::vector<cudaGraphNode_t> captured() const;
    [[nodiscard]] std::vector<cudaGraphNode_t> undescribed() const;
    [[nodiscard]] std::uint32_t described_to() const;
    /// Ends the region, well or badly: the graph takes nodes again.
    void close() noexcept;
    /// Whether users hold handles of nodes that a failed region would delete.
    [[nodiscard]] bool has_written() const noexcept;
    void lose_graph(bool exists) noexcept;
    /// Clones the graph if the end of the capture will probably destroy it.
    void save() noexcept;
    [[nodiscard]] bool will_break() const;
    /// Whether the stream's tail comes after only a part of the captured nodes: then a fork is unjoined.
    [[nodiscard]] bool is_unjoined() const;
    /// Abandons the capture. Returns whether the graph outlived its end.
    [[nodiscard]] bool has_survived() noexcept;
    /// Replaces the destroyed graph by its clone; without a clone, records the loss.
    void recover() noexcept;
    void remove_captured() noexcept;
    void require_fit() const;
    [[nodiscard]] CapturedNode describe();

    GraphState& graph_;
    GraphState& root_;
    std::uint32_t first_ = 0;        ///< the first node of the region
    std::uint32_t first_native_ = 0; ///< its number among the native nodes
    SourceLocation location_;
    std::unique_ptr<StreamCapture> capture_;
    CaptureState* state_ = nullptr;
    std::size_t conditions_before_ = 0;
    bool is_all_described_ = false;     ///< whether all captured nodes are known to have records
    std::vector<cudaGraphNode_t> line_; ///< nodes without records, if known to be a line; else empty
    std::unique_ptr<Clone> clone_;
    bool ended_ = false;
};

} // namespace cudag::detail
