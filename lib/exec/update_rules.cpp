// Properties of nodes that CUDA fixes at instantiation.
#include "update_rules.hpp"

#include "compare/diff.hpp"
#include "cuda/driver.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/version.hpp"
#include "graph/device_rules.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/native_graph.hpp"
#include "graph/node_record.hpp"
#include "node/kernel_attributes.hpp"
#include "node/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_set>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

/// Whether a fill is in a green context. CUDA takes a whole update by a fill of another context, and does not say where
/// it runs then.
bool is_fill_in_context(const NodeRecord& record) noexcept {
    return record.kind == NodeKind::memset && is_context_number(record.device);
}

std::string silently_ignored_here(const GraphState& before, const GraphState& after) {
    for (std::uint32_t i = 0; i < records_of(before).nodes().size(); ++i) {
        const NodeRecord& mine = records_of(before).nodes()[i];
        const NodeRecord& next = records_of(after).nodes()[i];
        if (mine.device != next.device && (is_fill_in_context(mine) || is_fill_in_context(next)))
            return fmt::format("{}: its context changes; an Exec keeps its own: instantiate the graph",
                               describe_node(before, i));
        const auto* const* old_kernel = std::get_if<const KernelParams*>(&records_of(before).nodes()[i].params);
        const auto* const* new_kernel = std::get_if<const KernelParams*>(&records_of(after).nodes()[i].params);
        if (old_kernel == nullptr || new_kernel == nullptr) continue;
        if (std::string ignored = silently_ignored(**old_kernel, **new_kernel); !ignored.empty())
            return fmt::format("{}: {}", describe_node(before, i), ignored);
    }
    return {};
}

/// Checks a captured graph without reading it, which is quicker.
bool may_ignore_silently(cudaGraph_t graph, std::span<const NodeKind> kinds) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    const bool are_known = kinds.size() == nodes.size();
    const int version = cuda_version();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeKind kind = are_known ? kinds[i] : kind_of(nodes[i]);
        if (kind == NodeKind::kernel ? may_keep_attributes(nodes[i], version)
                                     : kind == NodeKind::child || kind == NodeKind::conditional) // not looked into
            return true;
    }
    return false;
}

/// Checks a graph with records, and those inside it.
bool may_ignore_silently(const GraphState& graph, std::unordered_set<CUfunction>& plain) {
    const int version = records_of(graph).special().read ? cuda_version() : 0; // no matter for kernels of cudag's
    const auto is_one = [&plain, version](const NodeRecord& record) {
        if (is_fill_in_context(record)) return true;
        const auto* const* kernel = std::get_if<const KernelParams*>(&record.params);
        return kernel != nullptr && may_keep_attributes(**kernel, plain, version);
    };
    return std::ranges::any_of(records_of(graph).nodes(), is_one) ||
           std::ranges::any_of(nested_of(graph), [&](const auto& inner) { return may_ignore_silently(*inner, plain); });
}

/// Checks each graph once: neither functions nor attributes of nodes change.
bool may_ignore_silently(const GraphState& graph, std::span<const NodeKind> kinds) {
    std::atomic<Answer>& known = records_of(graph).special().silently_ignored;
    if (const Answer answer = known.load(std::memory_order_relaxed); answer != Answer::unknown)
        return answer == Answer::yes;
    std::unordered_set<CUfunction> plain;
    const bool may_be = records_of(graph).has_known_nodes() ? may_ignore_silently(graph, plain)
                                                            : may_ignore_silently(native_of(graph), kinds);
    known.store(may_be ? Answer::yes : Answer::no, std::memory_order_relaxed);
    return may_be;
}

} // namespace

std::string silently_ignored(const GraphState& before, const GraphState& after) {
    std::string ignored;
    if (!may_ignore_silently(before, after)) return ignored;
    for_each_graph_pair(before, after, [&ignored](const GraphState& a, const GraphState& b) {
        if (ignored.empty()) ignored = silently_ignored_here(a, b);
    });
    return ignored;
}

bool may_ignore_silently(const GraphState& before, const GraphState& after, std::span<const NodeKind> kinds) {
    if (&before == &after) return false;
    return may_ignore_silently(before, kinds) || may_ignore_silently(after, kinds);
}

std::vector<NodeKind> kinds_of(const GraphState& graph) {
    std::vector<NodeKind> kinds;
    if (records_of(graph).has_known_nodes())
        std::ranges::transform(records_of(graph).nodes(), std::back_inserter(kinds), &NodeRecord::kind);
    else
        std::ranges::transform(nodes_of(native_of(graph)), std::back_inserter(kinds), kind_of);
    return kinds;
}

bool is_unknown(NodeKind kind, const NodeParams& params) noexcept {
    return std::holds_alternative<std::monostate>(params) && kind != NodeKind::empty && kind != NodeKind::child;
}

std::string about_device_updatable(const GraphState& before, const GraphState& after) {
    for (const GraphState* graph : {&before, &after})
        if (const NodePlace node = find_device_updatable(*graph))
            return node.describe() + " is device-updatable; CUDA updates no graph with such a node as a whole: update "
                                     "its nodes";
    return {};
}

void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject) {
    refuse<UpdateError>(fmt::format("{}since the update of the whole graph the node launches {}, which has other "
                                    "parameters; change the node in the graph that the update came from and update the "
                                    "Exec from it again, or instantiate that graph and use its handles",
                                    what, name),
                        std::move(subject));
}

} // namespace cudag::detail
