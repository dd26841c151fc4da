// Conditional nodes: the node owns its bodies, see Node::bodies.
#include "graph_conditional_work.hpp"

#include "runtime/cuda_versions.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// Returns the user's graph around `graph`: it has the conditions.
Graph& root_of(const Graph& graph) noexcept {
    const Graph* root = &graph;
    while (const Node* owner = root->owner())
        root = &owner->graph;
    return const_cast<Graph&>(*root);
}

void require_size(int kind, unsigned size) {
    switch (kind) {
    case cudaGraphCondTypeIf:
        if (driver_version() < 12080 && size != 1)
            fail(cudaErrorInvalidValue, "Size must be 1 for IF conditional nodes");
        if (size == 1 || size == 2) return;
        fail(cudaErrorInvalidValue, "Size must be 1 or 2 for IF conditional nodes");
    case cudaGraphCondTypeWhile:
        if (size == 1) return;
        fail(cudaErrorInvalidValue, "Size must be 1 for WHILE conditional nodes");
    case compat::conditional_type_switch:
        if (driver_version() < 12080) fail(cudaErrorInvalidValue, "Invalid conditional node type");
        if (size >= 1) return;
        fail(cudaErrorInvalidValue, "Size cannot be zero for SWITCH conditional nodes");
    default:
        fail(cudaErrorInvalidValue, "Invalid conditional node type");
    }
}

} // namespace

std::optional<std::size_t> ConditionalWork::body_for(unsigned value) const noexcept {
    std::size_t body = value;
    if (static_cast<int>(kind_) != compat::conditional_type_switch) body = value != 0 ? 0 : 1;
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

void ConditionalWork::added_to(const Graph& graph) const {
    root_of(graph).conditions[handle_ - 1].has_node = true;
}

void ConditionalWork::removed_from(const Graph& graph) const noexcept {
    root_of(graph).conditions[handle_ - 1].has_node = false;
}

cudaGraphConditionalHandle make_condition(Graph& graph, unsigned initial, unsigned flags) {
    if ((flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) != 0)
        fail(cudaErrorInvalidValue, text("Invalid flags ", flags));
    Graph& root = root_of(graph);
    root.conditions.push_back({initial, flags == cudaGraphCondAssignDefault});
    return root.conditions.size();
}

NodeContent conditional_content(const cudaConditionalNodeParams& params, const Graph& target) {
    const Graph& root = root_of(target);
    if (root.conditions.empty()) fail(cudaErrorInvalidValue, "No conditional handles exist for the provided context");
    if (params.handle == 0 || params.handle > root.conditions.size())
        fail(cudaErrorInvalidValue, "Invalid conditional handle value");
    if (root.conditions[params.handle - 1].has_node)
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

cudaGraphConditionalHandle find_unused_condition(const Graph& graph) noexcept {
    const auto& all = graph.conditions;
    const auto unused = std::ranges::find_if(all, [](const Condition& condition) { return !condition.has_node; });
    return unused == all.end() ? 0 : static_cast<cudaGraphConditionalHandle>(unused - all.begin()) + 1;
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
