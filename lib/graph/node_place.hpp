// The library's reference to a node: its graph and its index.
#pragma once

#include "graph_records.hpp"
#include "names.hpp"
#include "node_record.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace cudag::detail {

class GraphState;

/// A reference to a node; empty if `graph` is null. The graph must stay in place.
struct NodePlace {
    const GraphState* graph = nullptr;
    std::uint32_t index = 0;

    explicit operator bool() const noexcept { return graph != nullptr; }
    bool operator==(const NodePlace&) const = default;

    [[nodiscard]] const NodeRecord& record() const { return records_of(*graph).nodes()[index]; }
    [[nodiscard]] cudaGraphNode_t native() const { return records_of(*graph).natives()[index]; }
    [[nodiscard]] std::string describe() const { return describe_node(*graph, index); }
    [[nodiscard]] Subject subject(std::string_view action) const { return node_subject(*graph, index, action); }
};

} // namespace cudag::detail
