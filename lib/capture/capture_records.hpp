// The nodes of a capture under way, described so far that others can be written between them.
#pragma once

#include "graph/graph_state.hpp"
#include "read/capture_names.hpp"

#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cudag::detail {

/// CUDA counts the nodes of a graph that is captured into in the order in which they came, whoever added them. It
/// removes none until the capture has ended.
class CaptureRecords {
  public:
    /// `graph` has all that was there when the capture began, as CUDA counted `natives` nodes.
    CaptureRecords(std::shared_ptr<GraphState> graph, std::uint32_t natives, const SourceLocation& begun_at);

    [[nodiscard]] const std::shared_ptr<GraphState>& graph() const noexcept { return graph_; }
    /// How many nodes are described, as CUDA counts.
    [[nodiscard]] std::uint32_t natives() const noexcept { return natives_; }

    /// Whether nodes were written, of which there are handles.
    [[nodiscard]] bool has_written() const noexcept { return has_written_; }

    /// Describes what CUDA has recorded since the last time; where that is a line, as a rule, it ends with `front`.
    void catch_up(std::span<const cudaGraphNode_t> front);
    /// The nodes from number `first` of the graph on were written; throws GraphError if their edges close a cycle. They
    /// come after `front` from now on, and the result is what comes after all of them.
    [[nodiscard]] std::vector<cudaGraphNode_t> connect(std::uint32_t first, std::size_t first_edge,
                                                       std::span<const cudaGraphNode_t> front);
    /// Gives the nodes of the capture their names.
    void name(const CaptureNames& names);

  private:
    std::shared_ptr<GraphState> graph_;
    SourceLocation begun_at_;
    std::uint32_t first_;        ///< the first node of the capture
    std::uint32_t first_native_; ///< the same, as CUDA counts
    std::uint32_t natives_;
    bool has_written_ = false;
};

} // namespace cudag::detail
