// What CUDA fixes of a node when its graph is instantiated.
#include "update_rules.hpp"

#include "node/kernel_attributes.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <variant>

namespace cudag::detail {

namespace {

bool have_other_clusters(const KernelParams& before, const KernelParams& after) {
    const dim3 old_cluster = cluster_of(before);
    const dim3 new_cluster = cluster_of(after);
    return old_cluster.x != new_cluster.x || old_cluster.y != new_cluster.y || old_cluster.z != new_cluster.z;
}

} // namespace

bool have_other_clusters(const GraphState& before, const GraphState& after) {
    for (std::uint32_t i = 0; i < before.nodes().size(); ++i) {
        const auto* const* old_kernel = std::get_if<const KernelParams*>(&before.nodes()[i].params);
        const auto* const* new_kernel = std::get_if<const KernelParams*>(&after.nodes()[i].params);
        if (old_kernel != nullptr && new_kernel != nullptr && have_other_clusters(**old_kernel, **new_kernel))
            return true;
    }
    for (std::size_t i = 0; i < before.nested().size(); ++i)
        if (have_other_clusters(*before.nested()[i], *after.nested()[i])) return true;
    return false;
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
