// Checks of nodes for writes outside their declared memory.
#pragma once

#include "graph/graph_work.hpp"

#include <cudart_cpu/watch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// The declaration of a node: its name and its regions of memory.
struct DeclaredNode {
    std::string name;
    std::vector<NodeRegion> regions;
};

using DeclaredNodes = std::vector<std::shared_ptr<const DeclaredNode>>;

bool watches_writes() noexcept;

/// Wraps `work` in a check of the regions of all `nodes`: the kernel fails if it changes bytes outside the written
/// regions of `node`, one of `nodes`.
WorkPointer watched(WorkPointer work, std::shared_ptr<const DeclaredNode> node,
                    std::shared_ptr<const DeclaredNodes> nodes);

/// Wraps `work` in a check of its kernel, which fails if no thread has called cudaGridDependencySynchronize.
WorkPointer checked_for_wait(WorkPointer work, std::shared_ptr<const std::string> name);

} // namespace cudart_cpu::detail
