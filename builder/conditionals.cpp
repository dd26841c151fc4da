// GraphBuilder: conditionals with bodies written by functions.
#include <cudag/builder.hpp>
#include <cudag/device_scalar.hpp>

#include "graph/conditions.hpp"
#include "graph/construction.hpp"
#include "graph/graph_tree.hpp"
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

Node GraphBuilder::add_repeat(unsigned times, const detail::GraphBody& body, const SourceLocation& location) {
    const Function& count = detail::count_turns_function(location);
    static_cast<void>(graph());
    const std::shared_ptr<detail::GraphState> owner = state_; // the body may move this builder, or destroy it
    const detail::BuilderGraph current = state();
    const DeviceScalar<unsigned> turns(0U, location);
    detail::Conditions& conditions = conditions_of(root_of(*owner));
    const std::size_t conditions_before = conditions.count();
    const Condition more = detail::make_condition(current, times == 0 ? 0U : 1U, location);
    auto counted = [&](GraphBuilder& inside) {
        detail::add_typed_kernel<Condition, unsigned*, unsigned>(inside.state(), {}, location, count, more, turns,
                                                                 times)
            .label("count of turns");
        body(inside);
    };
    const detail::GraphBody bodies[] = {counted};
    try {
        return add_conditional(detail::ConditionalKind::while_, more, bodies, 1, location);
    } catch (...) {
        if (!construction_of(*owner).destroyed_by) conditions.abandon_from(conditions_before);
        throw;
    }
}

} // namespace cudag
