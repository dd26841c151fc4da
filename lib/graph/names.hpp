// Names of nodes and graphs in errors and reports.
#pragma once

#include "cuda/failure.hpp"
#include "node_record.hpp"

#include <cudag/node.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace cudag::detail {

class GraphState;

/// Returns "kernel", "memcpy", ..., but "if", "while", "switch" for a conditional.
[[nodiscard]] std::string_view kind_text(const NodeRecord& node) noexcept;

/// Describes a node: "kernel \"scale\" at f.cpp:12", or by kernel name or kind and index if it has no label. A captured
/// kernel has the label of its step, and its own name: "kernel \"frame\" (blur) at f.cpp:12".
[[nodiscard]] std::string describe_node(const GraphState& graph, std::uint32_t index);

/// Describes the place of a graph's nodes: "the graph itself", or "child \"c\" at f.cpp:12", "body 1 of switch \"s\"".
[[nodiscard]] std::string describe_place(const GraphState& graph);

/// Returns the name of the root of `graph` with a space before it, " \"decode\""; "" without one.
[[nodiscard]] std::string quoted_name(const GraphState& graph);

/// Describes the root of `graph`: "the graph made at f.cpp:12".
[[nodiscard]] std::string describe_graph(const GraphState& graph);

/// Names the graph of `node`, which must be outside of `here`'s tree, and the function for its counterpart there, if
/// any.
[[nodiscard]] std::string describe_foreign(const GraphState& here, const Node& node);

/// Returns a node as the subject of an error: "<action><node>", its label and its location.
[[nodiscard]] Subject node_subject(const GraphState& graph, std::uint32_t index, std::string_view action = {});

} // namespace cudag::detail
