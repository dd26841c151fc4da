// The flow of data between the nodes of a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

class GraphState;

/// `to` uses `bytes` bytes as `from` has written them.
struct DataFlow {
    std::uint32_t from;
    std::uint32_t to;
    std::size_t bytes;
    friend bool operator==(const DataFlow&, const DataFlow&) = default;
};

/// Returns the flows of memory with known extent, each pair of nodes once, in order of the users. A region with holes
/// counts as one range. Conditions are no memory. Reads a captured graph.
[[nodiscard]] std::vector<DataFlow> data_flows(const GraphState& graph);

} // namespace cudag::detail
