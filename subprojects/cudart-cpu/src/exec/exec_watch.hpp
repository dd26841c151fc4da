// Looks whether nodes write only what they have declared.
#pragma once

#include "graph/graph_work.hpp"

#include <cudart_cpu/watch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// What a node has declared.
struct DeclaredNode {
    std::string name;
    std::vector<NodeRegion> regions;
};

using DeclaredNodes = std::vector<std::shared_ptr<const DeclaredNode>>;

bool watches_writes() noexcept;

/// `work`, and after it a look at the regions of all of `nodes`: the kernel fails if bytes have changed that are not
/// written by `node`, one of these.
WorkPointer watched(WorkPointer work, std::shared_ptr<const DeclaredNode> node,
                    std::shared_ptr<const DeclaredNodes> nodes);

} // namespace cudart_cpu::detail
