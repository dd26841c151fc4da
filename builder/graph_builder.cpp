// GraphBuilder: from the first node to the finished Graph.
#include <cudag/builder.hpp>

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/observing.hpp"
#include "cuda/tool_range.hpp"
#include "graph/check_edges.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "green/green_context_state.hpp"
#include "lists/spare_block.hpp"
#include "loops.hpp"
#include "new_conditional.hpp"
#include "order/inferred_edges.hpp"
#include "order/memory_check.hpp"
#include "order/races.hpp"
#include "placed_in.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>
#include <cudag/green_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace cudag {

using detail::GraphState;

namespace {

std::shared_ptr<GraphState> make_state() {
    cudaGraph_t native = nullptr;
    detail::checked<GraphError>(cudaGraphCreate(&native, 0), "cudaGraphCreate");
    detail::UniqueGraph owner(native);
    auto state = detail::make_shared_in_spare<GraphState>(native);
    static_cast<void>(owner.release());
    return state;
}

/// Adds an empty conditional for each condition left over by a body that threw or by a removed node. CUDA cannot delete
/// a condition, and instantiates no graph with a condition that no node tests.
void use_conditions_left_over(GraphState& graph) {
    detail::Conditions& conditions = graph.conditions();
    for (const detail::ConditionRecord& each : conditions.all()) {
        if (!each.is_left_over()) continue;
        const std::size_t before = conditions.count();
        const char* const by =
            each.abandoned ? "left over by a body that threw" : "left over by a node that was removed";
        const detail::ConditionRecord& condition =
            each.abandoned ? *conditions.take_abandoned(each.initial, each.device) : each;
        try {
            const detail::PlacedIn device(graph, condition.device);
            detail::NewConditional node(graph, detail::ConditionalKind::if_,
                                        graph.identity().condition_value(condition.handle), 1, condition.location);
            static_cast<void>(node.open_body(0));
            node.close_body();
            graph.identity().handle(static_cast<std::uint32_t>(graph.records().nodes().size() - 1)).label(by);
            node.keep();
        } catch (...) {
            conditions.abandon_from(before);
            throw;
        }
    }
}

/// Throws GraphError if a body or a region is open.
void require_written(const GraphState& graph) {
    if (const GraphState* body = graph.construction().open_body; body != nullptr)
        detail::refuse("build: " + describe_place(*body) + " is being written; build() when it has ended");
    if (const SourceLocation* region = graph.construction().open_region; region != nullptr)
        detail::refuse(
            fmt::format("build: a stream is captured into the graph at {}; build() when that has ended", *region),
            {{}, {}, *region});
}

/// Infers the edges; null if the edges stay as written.
std::unique_ptr<detail::InferredEdges> infer_edges(GraphState& graph, bool is_view) {
    if (is_view || graph.construction().options.dependencies == Dependencies::as_written) return nullptr;
    return std::make_unique<detail::InferredEdges>(graph);
}

/// Whether inference can leave a race in the graph or in a body: a launch-completion edge replaces an inferred one but
/// orders no memory, and none are inferred inside captured regions.
bool may_race_when_inferred(const GraphState& graph) {
    return graph.edge_lists().logical().has_early() || !graph.construction().regions.empty() ||
           std::any_of(graph.nested().begin(), graph.nested().end(), [](const auto& inner) {
               return inner->tree().place() == detail::Place::body && may_race_when_inferred(*inner);
           });
}

/// Throws GraphError if the graph cannot be built. A view has fewer requirements.
void check_graph(const GraphState& graph, bool is_view) {
    check_edges(graph, "build");
    if (!graph.records().allocations().list().empty()) check_graph_memory(graph);
    if (is_view) return;
    if (graph.construction().has_unwanted_nodes)
        detail::refuse("build: a node could not be removed, after a body or a capture threw or by remove(), because "
                       "CUDA has kept it, as it does in a graph with memory nodes; write the graph again",
                       {}, cudaErrorNotSupported);
    for (const detail::ConditionRecord& condition : graph.conditions().all())
        if (condition.user == nullptr && !condition.is_left_over())
            detail::refuse(
                fmt::format("build: the condition made at {} has no node; give it to if_, while_ or switch_, or "
                            "do not make it",
                            condition.location),
                {{}, {}, condition.location});
    check_loops(graph);
    const BuilderOptions& options = graph.construction().options;
    const bool may_race = options.dependencies == Dependencies::as_written || may_race_when_inferred(graph);
    if (options.races == Races::refused && may_race) detail::refuse_races(graph, "build");
}

[[noreturn]] void refuse_empty(const SourceLocation& built_at) {
    if (built_at.line == 0) detail::refuse("a moved-from GraphBuilder was used; use the one that it was moved to");
    detail::refuse(fmt::format("a GraphBuilder was used after it was built, at {}; nodes are added before build(), "
                               "and the next graph needs a new GraphBuilder",
                               built_at),
                   {{}, {}, built_at});
}

} // namespace

GraphBuilder::GraphBuilder() : state_(make_state()) {}
GraphBuilder::GraphBuilder(const BuilderOptions& options) : GraphBuilder() {
    state_->construction().options = options;
}
GraphBuilder::GraphBuilder(std::shared_ptr<GraphState> state) noexcept : state_(std::move(state)), is_view_(true) {}
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

detail::BuilderGraph GraphBuilder::state() const {
    if (device_ == detail::any_device) [[likely]]
        return detail::BuilderGraph(graph());
    return {graph(), device_};
}

GraphState& GraphBuilder::graph() const {
    if (!state_) [[unlikely]]
        refuse_empty(built_at_);
    require_not_destroyed(*state_);
    return *state_;
}

void GraphBuilder::keep(std::vector<std::shared_ptr<const void>>&& owners) {
    std::erase(owners, nullptr);
    keep_owners(graph(), std::move(owners));
}

std::size_t GraphBuilder::node_count() const {
    return graph().records().nodes().size();
}

GraphBuilder GraphBuilder::on(int device) {
    static_cast<void>(graph());
    int count = 0;
    detail::checked<GraphError>(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (device < 0 || device >= count)
        detail::refuse(fmt::format("on: there is no device {}; CUDA sees {}, numbered from 0", device,
                                   count == 1 ? "1 device" : fmt::format("{} devices", count)),
                       {}, cudaErrorInvalidDevice);
    GraphBuilder view(state_);
    view.device_ = device;
    return view;
}

GraphBuilder GraphBuilder::on(const GreenContext& context) {
    if (!context.state_)
        detail::refuse("on: the green context was moved from; give the one that it was moved to, or a copy");
    keep({context.state_});
    GraphBuilder view(state_);
    view.device_ = context.state_->number();
    return view;
}

void GraphBuilder::check() const {
    require_written(graph());
    const auto inferred = infer_edges(*state_, is_view_);
    check_graph(*state_, is_view_);
}

Graph GraphBuilder::build(SourceLocation location) && {
    [[maybe_unused]] const detail::ToolRange range([&] { return fmt::format("build at {}", location); });
    try {
        return build_at(location);
    } catch (const Error& error) {
        detail::observe([&] { return ObservedRefusal{"build", fmt::format("a graph at {}", location), error.what()}; });
        throw;
    }
}

Graph GraphBuilder::build_at(SourceLocation location) {
    if (is_view_)
        detail::refuse("build: this builder adds to a graph that another one builds; build() is called on that one");
    require_written(graph());
    if (const auto inferred = infer_edges(*state_, is_view_)) {
        check_graph(*state_, is_view_);
        inferred->keep();
    } else {
        check_graph(*state_, is_view_);
    }
    end_turns(*state_);
    use_conditions_left_over(*state_);
    state_->edge_lists().merge(state_->records().nodes().size());
    state_->construction().is_built = true;
    state_->construction().made_at = location;
    built_at_ = location;
    return detail::Access::graph_of(std::move(state_));
}

} // namespace cudag
