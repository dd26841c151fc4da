// Checks for copies refused by CUDA in the bodies of conditionals.
#include "body_copies.hpp"

#include "cuda/failure.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "new_node.hpp"

#include <fmt/format.h>

namespace cudag::detail {

void require_body_copy(const GraphState& graph, NodeKind kind, const NodeParams& params, const SourceLocation& where) {
    if (!tree_of(graph).is_in_body()) return;
    if (const char* reason = why_not_in_body(params); reason != nullptr)
        refuse(fmt::format("{} takes no such copy: {}", describe_place(graph), reason), new_node_subject(kind, where));
}

} // namespace cudag::detail
