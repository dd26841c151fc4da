// What CUDA fixes of a node when its graph is instantiated.
#include "update_rules.hpp"

#include "graph/device_rules.hpp"
#include "graph/diff.hpp"
#include "graph/names.hpp"
#include "node/kernel_attributes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <variant>

namespace cudag::detail {

namespace {

bool have_other_clusters(const KernelParams& before, const KernelParams& after) {
    const dim3 old_cluster = cluster_of(before);
    const dim3 new_cluster = cluster_of(after);
    return old_cluster.x != new_cluster.x || old_cluster.y != new_cluster.y || old_cluster.z != new_cluster.z;
}

/// Two reads for each node, where no kernel has a cluster, would be a tenth of an update.
bool may_have_clusters(const GraphState& graph) noexcept {
    return graph.special().attributes || graph.special().read;
}

bool have_other_clusters_here(const GraphState& before, const GraphState& after) {
    if (!may_have_clusters(before) && !may_have_clusters(after)) return false;
    for (std::uint32_t i = 0; i < before.nodes().size(); ++i) {
        const auto* const* old_kernel = std::get_if<const KernelParams*>(&before.nodes()[i].params);
        const auto* const* new_kernel = std::get_if<const KernelParams*>(&after.nodes()[i].params);
        if (old_kernel != nullptr && new_kernel != nullptr && have_other_clusters(**old_kernel, **new_kernel))
            return true;
    }
    return false;
}

} // namespace

bool have_other_clusters(const GraphState& before, const GraphState& after) {
    bool found = false;
    for_each_graph_pair(before, after, [&found](const GraphState& a, const GraphState& b) {
        found = found || have_other_clusters_here(a, b);
    });
    return found;
}

bool is_unknown(NodeKind kind, const NodeParams& params) noexcept {
    return std::holds_alternative<std::monostate>(params) && kind != NodeKind::empty && kind != NodeKind::child;
}

bool is_fixed_in_exec(NodeKind kind, const FieldDifference& difference) noexcept {
    return difference.needs_instantiate || difference.kind == DifferenceKind::attribute || is_graph_memory(kind) ||
           kind == NodeKind::conditional;
}

std::string about_device_updatable(const GraphState& before, const GraphState& after) {
    for (const GraphState* graph : {&before, &after})
        if (const NodePlace node = find_device_updatable(*graph))
            return node.describe() + " is device-updatable; CUDA updates no graph with such a node as a whole: update "
                                     "its nodes";
    return {};
}

void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject) {
    refuse<UpdateError>(
        fmt::format("{}the node launches {} since the update of the whole graph, whose parameters are others; change "
                    "the node in the graph that the update came from, and update the Exec from that once more, or "
                    "instantiate it and use its handles",
                    what, name),
        std::move(subject));
}

} // namespace cudag::detail
