// The state of a graph under construction.
#pragma once

#include "cuda/function_cache.hpp"

#include <cudag/builder_options.hpp>
#include <cudag/detail/builder_graph.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/recapture.hpp>
#include <cudag/source_location.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudag::detail {

class GraphState;
struct RegionNodes;

/// The state of construction of a root; each body has one of its own.
struct Construction {
    bool is_built = false;
    /// The place of build() or of the capture; "nowhere" before that, and if CUDA's own functions made the graph.
    SourceLocation made_at = {};
    std::int32_t device = any_device;      ///< the device recorded for new nodes
    const GraphState* open_body = nullptr; ///< the body being written, of a node of this graph
    /// The beginning of the region being captured into this graph, which takes no other nodes meanwhile.
    const SourceLocation* open_region = nullptr;
    /// Whether a capture into this graph is open: CUDA removes no nodes until it ends.
    bool is_captured_into = false;
    /// CUDA has kept a node that was to be removed, because the graph has memory nodes or the node is faulty.
    bool has_unwanted_nodes = false;
    /// The beginning of a failed capture into this graph, because of which CUDA or cudag destroyed it.
    std::optional<SourceLocation> destroyed_by = std::nullopt;
    FunctionCache<4> functions = {};                     ///< of the added kernels
    std::vector<const KernelSignature*> signatures = {}; ///< of the added Functions, in the graph's memory
    std::vector<const RegionNodes*> regions = {};        ///< the captured regions in order, in the graph's memory
    BuilderOptions options = {};                         ///< of a root
    std::string name = {};                               ///< given by the user; of a root
    bool is_exec_copy = false; ///< a clone that only an Exec knows: errors speak of its origin
    std::shared_ptr<const Recapture> recapture = nullptr; ///< for bind; null for nodes whose addresses are known
    std::uint64_t pool = 0; ///< the number of the first CapturePool among the owners; 0 if there is none
};

/// The green context given to the builder of `graph`, by its number, otherwise the current device. Throws GraphError.
[[nodiscard]] int place_here(const GraphState& graph);
[[nodiscard]] const Construction& construction_of(const GraphState& graph) noexcept;
[[nodiscard]] Construction& construction_of(GraphState& graph) noexcept;
/// Ends the handles of `root`, whose CUDA graph was lost by the failed capture at `where`.
void set_destroyed_by(GraphState& root, const SourceLocation& where) noexcept;

} // namespace cudag::detail
