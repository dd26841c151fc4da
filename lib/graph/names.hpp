// How errors and reports name nodes and graphs.
#pragma once

#include "cuda/failure.hpp"
#include "graph_state.hpp"

#include <cudag/node.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace cudag::detail {

/// "kernel", "memcpy", ..., but "if", "while", "switch" for a conditional.
[[nodiscard]] std::string_view kind_text(const NodeRecord& node) noexcept;

/// "kernel \"scale\" at f.cpp:12", or by kernel name or kind and index where there is no label. A captured kernel has
/// the label of its step, and its own name: "kernel \"frame\" (blur) at f.cpp:12".
[[nodiscard]] std::string describe_node(const GraphState& graph, std::uint32_t index);

/// Where the nodes of a graph stand: "the graph itself", or "child \"c\" at f.cpp:12", "body 1 of switch \"s\"".
[[nodiscard]] std::string describe_place(const GraphState& graph);

/// "the graph made at f.cpp:12", of the root of `graph`.
[[nodiscard]] std::string describe_graph(const GraphState& graph);

/// Of which graph `node` is, which is none of `here`'s root or inside it, and by which handle it would be one.
[[nodiscard]] std::string describe_foreign(const GraphState& here, const Node& node);

/// A node as the subject of an error: "<action><node>", its label and its location.
[[nodiscard]] Subject node_subject(const GraphState& graph, std::uint32_t index, std::string_view action = {});

} // namespace cudag::detail
