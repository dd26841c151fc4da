// Conditional nodes: the node owns its bodies, see Node::bodies.
#include "graph_conditional_work.hpp"

#include "graph_enum.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// The graph that the user made.
const Graph& root_of(const Graph& graph) noexcept {
    const Graph* root = &graph;
    while (const Node* owner = root->owner())
        root = &owner->graph;
    return *root;
}

template <class Visit>
void for_each_conditional(const Graph& graph, Visit&& visit) {
    for (const auto& node : graph.nodes()) {
        if (node->work->type() == ConditionalWork::node_type) visit(static_cast<const ConditionalWork&>(*node->work));
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
        fail(cudaErrorInvalidValue, "Size must be 1 or 2 for IF conditional nodes");
    case cudaGraphCondTypeWhile:
        if (size == 1) return;
        fail(cudaErrorInvalidValue, "Size must be 1 for WHILE conditional nodes");
    case cudaGraphCondTypeSwitch:
        if (size >= 1) return;
        fail(cudaErrorInvalidValue, "Size cannot be zero for SWITCH conditional nodes");
    default:
        fail(cudaErrorInvalidValue, "Invalid conditional node type");
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
    std::string changed;
    if (other.handle_ != handle_) changed += "handle ";
    if (other.kind_ != kind_) changed += "type ";
    if (other.size_ != size_) changed += "size ";
    if (changed.empty()) return std::nullopt;
    return Refusal{cudaGraphExecUpdateErrorNotSupported,
                   text("The conditional node parameters cannot be updated. Parameters changed: ", changed)};
}

cudaGraphConditionalHandle make_condition(Graph& graph, unsigned initial, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
        fail(cudaErrorInvalidValue, text("Invalid flags ", flags));
    auto& root = const_cast<Graph&>(root_of(graph));
    root.conditions.push_back({initial, flags == cudaGraphCondAssignDefault});
    return root.conditions.size();
}

NodeContent conditional_content(const cudaConditionalNodeParams& params, const Graph& target) {
    const Graph& root = root_of(target);
    if (root.conditions.empty()) fail(cudaErrorInvalidValue, "No conditional handles exist for the provided context");
    if (params.handle == 0 || params.handle > root.conditions.size())
        fail(cudaErrorInvalidValue, "Invalid conditional handle value");
    if (used_conditions(root)[params.handle - 1])
        fail(cudaErrorInvalidValue, text("Conditional handle ", params.handle, " has a node already"));
    require_size(number_in(params.type), params.size);
    Bodies bodies;
    for (unsigned i = 0; i < params.size; ++i)
        bodies.push_back(std::make_shared<Graph>());
    return {std::make_shared<ConditionalWork>(params.handle, params.type, params.size), std::move(bodies)};
}

bool is_in_body(const Graph& graph) noexcept {
    for (const Node* owner = graph.owner(); owner; owner = owner->graph.owner())
        if (owner->work->type() == ConditionalWork::node_type) return true;
    return false;
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
