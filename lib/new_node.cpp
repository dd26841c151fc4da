// Names and places of nodes that are about to be added.
#include "new_node.hpp"

#include <cudag/format.hpp>

namespace cudag::detail {

Subject new_node_subject(NodeKind kind, const SourceLocation& where, std::string_view name) {
    return {fmt::format("{}{}{} at {}", kind, name.empty() ? "" : " ", name, where), {}, where};
}

bool is_allowed_in_body(NodeKind kind) noexcept {
    switch (kind) {
    case NodeKind::kernel:
    case NodeKind::memcpy:
    case NodeKind::memset:
    case NodeKind::child:
    case NodeKind::empty:
    case NodeKind::conditional:
        return true;
    default:
        return false;
    }
}

void require_allowed(const GraphState& graph, NodeKind kind, const SourceLocation& where) {
    if (graph.place() == Place::root || is_allowed_in_body(kind)) return;
    const GraphState* body = &graph;
    while (body != nullptr && body->place() != Place::body)
        body = body->parent();
    if (body == nullptr) return;
    Subject subject = new_node_subject(kind, where);
    subject.labels.emplace_back(body->parent()->nodes()[body->parent_node()].label);
    refuse(fmt::format("CUDA allows no {} node in the body of {}; put it before or after that node", kind,
                       describe_node(*body->parent(), body->parent_node())),
           std::move(subject));
}

} // namespace cudag::detail
