// A region that is being captured into a builder's graph: it stays if the capture ends well.
#pragma once

#include "capture/capture_state.hpp"
#include "graph/graph_state.hpp"
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

/// CUDA destroys a graph with all its nodes if a capture into it ends badly. So the capture is looked at before its
/// end, and what the graph was before is saved in a clone, with which the graph goes on living.
class NewRegion {
  public:
    /// Begins to capture `stream` into `graph`, which takes no other nodes as long as this lives. Throws GraphError if
    /// the graph takes no nodes now, or CaptureError.
    NewRegion(std::shared_ptr<GraphState> graph, cudaStream_t stream, const CaptureOptions& options,
              const SourceLocation& where);
    /// Ends the capture if it has not ended; its nodes are removed.
    ~NewRegion();
    NewRegion(const NewRegion&) = delete;
    NewRegion& operator=(const NewRegion&) = delete;

    [[nodiscard]] StreamCapture& capture() noexcept { return *capture_; }
    /// Ends the capture; the nodes stay. Throws CaptureError if the capture was broken, left an error unread or is
    /// empty without leave, and GraphError if the graph cannot have one of the nodes; it has none of them then.
    [[nodiscard]] CapturedNode finish();
    /// Inside a catch block that has caught `cause`: ends the capture, whose nodes are removed, and throws on, with a
    /// word about the graph if that is lost.
    [[noreturn]] void fail(const CaptureError& cause);

  private:
    struct Clone;

    void drop() noexcept;
    /// Notes what was captured, while CUDA tells what the stream comes after.
    void note_captured() noexcept;
    /// What was captured, in CUDA's order; what of that is yet to be described.
    [[nodiscard]] std::vector<cudaGraphNode_t> captured() const;
    [[nodiscard]] std::vector<cudaGraphNode_t> undescribed() const;
    [[nodiscard]] std::uint32_t described_to() const;
    /// The region has ended, well or badly.
    void close() noexcept;
    /// Whether there are handles of nodes that would be of none if the region failed.
    [[nodiscard]] bool has_written() const noexcept;
    void lose_graph(bool exists) noexcept;
    /// Clones the graph if the end of the capture will destroy it, as far as is known.
    void save() noexcept;
    [[nodiscard]] bool will_break() const;
    /// Whether a node was recorded that the stream does not come after.
    [[nodiscard]] bool is_unjoined() const;
    /// Whether the graph outlived the end of the capture.
    [[nodiscard]] bool has_survived() noexcept;
    /// The capture has ended with an error.
    void recover() noexcept;
    void remove_captured() noexcept;
    void require_fit() const;
    [[nodiscard]] CapturedNode describe();

    GraphState& graph_;
    GraphState& root_;
    std::uint32_t first_ = 0;        ///< the first node of the region
    std::uint32_t first_native_ = 0; ///< the same, as CUDA counts
    SourceLocation location_;
    std::unique_ptr<StreamCapture> capture_;
    CaptureState* state_ = nullptr;
    std::size_t conditions_before_ = 0;
    bool is_all_described_ = false;     ///< whether that is known
    std::vector<cudaGraphNode_t> line_; ///< what is yet to be described, if that is a line; else none, or not known yet
    std::unique_ptr<Clone> clone_;
    bool ended_ = false;
};

} // namespace cudag::detail
