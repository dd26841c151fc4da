// The order of a program, where edges say otherwise than the numbers of its nodes.
#pragma once

#include "edge_record.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The nodes in the order of their numbers, but for those that `edges`, which close no cycle, put after others: such a
/// node comes as soon as these have. Takes (nodes + edges) * log(nodes), and nodes + edges where all edges lead
/// forward.
[[nodiscard]] std::vector<std::uint32_t> program_order(std::size_t nodes, const std::vector<EdgeRecord>& edges);

} // namespace cudag::detail
