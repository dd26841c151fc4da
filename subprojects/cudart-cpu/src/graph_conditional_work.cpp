// Conditional nodes: the node owns its bodies, see Node::bodies.
#include "graph_conditional_work.hpp"

#include "graph_enum.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// The graph that the user made. Throws Failure if it is reached through a child graph.
const Graph& root_of(const Graph& graph) {
    const Graph* root = &graph;
    while (const Node* owner = root->owner()) {
        if (!is_body(*root)) fail(cudaErrorNotSupported, "Conditional nodes are not supported in child graphs");
        root = &owner->graph;
    }
    return *root;
}

template <class Visit>
void for_each_conditional(const Graph& graph, Visit&& visit) {
    for (const auto& node : graph.nodes()) {
        if (node->work->type() != ConditionalWork::node_type) continue;
        visit(static_cast<const ConditionalWork&>(*node->work));
        for (const auto& body : node->bodies)
            for_each_conditional(*body, visit);
    }
}

std::vector<bool> used_conditions(const Graph& root) {
    std::vector<bool> used(root.conditions.size());
    for_each_conditional(root, [&](const ConditionalWork& work) { used[work.handle() - 1] = true; });
    return used;
}

void require_size(int kind, unsigned size) {
    switch (kind) {
    case cudaGraphCondTypeIf:
        if (size == 1 || size == 2) return;
        fail(cudaErrorInvalidValue, text("an if node has ", size, " bodies; it must have 1 or 2"));
    case cudaGraphCondTypeWhile:
        if (size == 1) return;
        fail(cudaErrorInvalidValue, text("a while node has ", size, " bodies; it must have 1"));
    case cudaGraphCondTypeSwitch:
        if (size >= 1) return;
        fail(cudaErrorInvalidValue, "a switch node has 0 bodies; it must have 1 or more");
    default:
        fail(cudaErrorInvalidValue, text(kind, " is no type of a conditional node"));
    }
}

} // namespace

std::optional<std::size_t> ConditionalWork::body_for(unsigned value) const noexcept {
    std::size_t body = value;
    if (kind_ != cudaGraphCondTypeSwitch) body = value != 0 ? 0 : 1;
    return body < size_ ? std::optional(body) : std::nullopt;
}

std::string ConditionalWork::title() const {
    return kind_ == cudaGraphCondTypeIf ? "if" : repeats() ? "while" : "switch";
}

std::string ConditionalWork::details() const {
    return text(title(), " on handle ", handle_, " bodies ", size_);
}

std::optional<Refusal> ConditionalWork::refuse_graph_update(const Work& next, bool) const {
    const auto& other = static_cast<const ConditionalWork&>(next);
    if (other.kind_ != kind_ || other.size_ != size_ || other.handle_ != handle_)
        return Refusal{cudaGraphExecUpdateErrorNotSupported, text(details(), " changed to ", other.details())};
    return std::nullopt;
}

cudaGraphConditionalHandle make_condition(Graph& graph, unsigned initial, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
        fail(cudaErrorInvalidValue, text("flags ", flags, " hold more than cudaGraphCondAssignDefault (1)"));
    auto& root = const_cast<Graph&>(root_of(graph));
    root.conditions.push_back({initial, flags == cudaGraphCondAssignDefault});
    return root.conditions.size();
}

NodeContent conditional_content(const cudaConditionalNodeParams& params, const Graph& target) {
    const Graph& root = root_of(target);
    if (params.handle == 0 || params.handle > root.conditions.size())
        fail(cudaErrorInvalidValue, text("Conditional handle ", params.handle, " does not belong to the graph"));
    if (used_conditions(root)[params.handle - 1])
        fail(cudaErrorInvalidValue, text("Conditional handle ", params.handle, " has a node already"));
    require_size(number_in(params.type), params.size);
    Bodies bodies;
    for (unsigned i = 0; i < params.size; ++i)
        bodies.push_back(std::make_shared<Graph>());
    return {std::make_shared<ConditionalWork>(params.handle, params.type, params.size), std::move(bodies)};
}

bool is_body(const Graph& graph) noexcept {
    return graph.owner() && graph.owner()->work->type() == ConditionalWork::node_type;
}

void refuse_body(const Graph& graph, const char* what) {
    if (is_body(graph))
        fail(cudaErrorNotSupported, text("Graph ", graph.handle(), " is the body of a conditional node: it ", what));
}

cudaGraphConditionalHandle find_unused_condition(const Graph& graph) {
    const std::vector<bool> used = used_conditions(graph);
    const auto unused = std::find(used.begin(), used.end(), false);
    return unused == used.end() ? 0 : static_cast<cudaGraphConditionalHandle>(unused - used.begin()) + 1;
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out,
                                                                      cudaGraph_t graph,
                                                                      unsigned int defaultLaunchValue,
                                                                      unsigned int flags) {
    return graph_api("cudaGraphConditionalHandleCreate", [&] {
        require_pointer(pHandle_out, "pHandle_out");
        *pHandle_out = make_condition(graph_of(graph), defaultLaunchValue, flags);
    });
}
