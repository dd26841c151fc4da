// Records of a capture under way: they permit writing other nodes in between.
#pragma once

#include "read/capture_names.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The nodes of a captured graph so far. CUDA counts them in order of addition, by anyone, and removes none before the
/// capture has ended.
class CaptureRecords {
  public:
    /// `graph` has all nodes from before the capture, `natives` as CUDA counts.
    CaptureRecords(std::shared_ptr<GraphState> graph, std::uint32_t natives, const SourceLocation& begun_at);

    [[nodiscard]] const std::shared_ptr<GraphState>& graph() const noexcept { return graph_; }
    /// The number of described nodes, as CUDA counts.
    [[nodiscard]] std::uint32_t natives() const noexcept { return natives_; }

    /// Whether nodes with handles were written.
    [[nodiscard]] bool has_written() const noexcept { return has_written_; }

    /// Describes the nodes that CUDA has recorded since the last call; if they are a line, it usually ends with
    /// `front`.
    void catch_up(std::span<const cudaGraphNode_t> front);
    /// Places the nodes written from number `first` on behind `front`, and returns their last ones, the new front.
    /// Throws GraphError if their edges close a cycle.
    [[nodiscard]] std::vector<cudaGraphNode_t> connect(std::uint32_t first, std::size_t first_edge,
                                                       std::span<const cudaGraphNode_t> front);
    /// Names the nodes of the capture.
    void name(const CaptureNames& names);

  private:
    std::shared_ptr<GraphState> graph_;
    SourceLocation begun_at_;
    std::uint32_t first_;        ///< the first node of the capture
    std::uint32_t first_native_; ///< the first node of the capture, as CUDA counts
    std::uint32_t natives_;
    bool has_written_ = false;
};

} // namespace cudag::detail
