// What a graph needs while it is written.
#pragma once

#include "cuda/function_cache.hpp"

#include <cudag/builder_options.hpp>
#include <cudag/detail/builder_graph.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/source_location.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace cudag::detail {

class GraphState;
struct RegionNodes;

/// Of a root, and of each body by itself.
struct Construction {
    bool is_built = false;
    SourceLocation made_at = {};                 ///< where it was built or captured; "nowhere" before that, and if
                                                 ///< CUDA's own functions made it
    std::int32_t device = any_device;            ///< what new nodes note as theirs
    const GraphState* open_body = nullptr;       ///< the body, of a node of this graph, that is being written
    const SourceLocation* open_region = nullptr; ///< where the region begins that is being captured into this graph,
                                                 ///< which takes no other nodes then
    bool is_captured_into = false;               ///< CUDA removes no nodes until that has ended
    /// CUDA has kept a node that was to be removed: it does so where there are memory nodes, or where something is
    /// wrong with it.
    bool has_unwanted_nodes = false;
    /// Where the capture into this graph began that failed, which made CUDA or cudag destroy it.
    std::optional<SourceLocation> destroyed_by = std::nullopt;
    FunctionCache<16> functions = {};                    ///< of the kernels that were added
    std::vector<const KernelSignature*> signatures = {}; ///< of the Functions that were added, in the graph's memory
    std::vector<const RegionNodes*> regions = {};        ///< that were captured, in order, in the graph's memory
    BuilderOptions options = {};                         ///< of a root
};

} // namespace cudag::detail
