// GraphBuilder: conditionals, whose bodies are written by functions.
#include <cudag/builder.hpp>

#include "new_conditional.hpp"

namespace cudag {

Node GraphBuilder::add_conditional(detail::ConditionalKind kind, const Condition& condition,
                                   const detail::GraphBody* bodies, std::size_t count, const SourceLocation& location) {
    static_cast<void>(graph());
    const std::shared_ptr<detail::GraphState> owner = state_; // a body may move this builder, or destroy it
    const int device = device_;
    const detail::BuilderGraph current = state();
    detail::NewConditional node(current, kind, condition, count, location);
    for (std::size_t i = 0; i < count; ++i) {
        GraphBuilder body(node.open_body(i));
        body.device_ = device;
        bodies[i](body);
        node.close_body();
    }
    return node.keep();
}

} // namespace cudag
