// Checks of CUDA's rules for device-side graph launch and device-updatable nodes; errors name the node.
#include "device_rules.hpp"

#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "graph_records.hpp"
#include "graph_tree.hpp"
#include "names.hpp"
#include "node/kernel_attributes.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag::detail {

namespace {

Subject subject_of(const GraphState& graph, std::uint32_t index) {
    return node_subject(graph, index, "instantiate with device_launch: ");
}

void require_plain_copy(const GraphState& graph, std::uint32_t index) {
    cudaMemcpy3DParms copy{};
    checked<InstantiateError>(driver().graph_copy_get_params(records_of(graph).natives()[index], &copy), copy_getter());
    if (copy.srcArray != nullptr || copy.dstArray != nullptr)
        refuse<InstantiateError>("a device-launched graph copies no arrays; copy linear memory",
                                 subject_of(graph, index));
    if (is_pageable<InstantiateError>(copy.srcPtr.ptr) || is_pageable<InstantiateError>(copy.dstPtr.ptr))
        refuse<InstantiateError>(
            "a device-launched graph copies no host memory that is not page-locked; use a PinnedBuffer",
            subject_of(graph, index));
}

/// Whether `graph` has work: a kernel, a copy or a fill. Throws if a graph for device-side launch cannot have one of
/// its nodes.
bool check_nodes(const GraphState& graph) {
    bool works = false;
    for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
        const NodeKind kind = records_of(graph).nodes()[i].kind;
        const DeviceLaunch role = rules_of(kind).device_launch;
        if (role == DeviceLaunch::refused)
            refuse<InstantiateError>(
                fmt::format("a device-launched graph has kernel, memcpy, memset and child nodes, no {} node", kind),
                subject_of(graph, i));
        if (kind == NodeKind::memcpy) require_plain_copy(graph, i);
        works = works || role == DeviceLaunch::work;
    }
    for (const auto& inner : nested_of(graph))
        works = check_nodes(*inner) || works;
    return works;
}

} // namespace

void require_device_launchable(const GraphState& graph) {
    if (!check_nodes(graph))
        refuse<InstantiateError>("a device-launched graph needs at least one kernel, memcpy or memset node",
                                 {"instantiate with device_launch"});
}

NodePlace find_device_updatable(const GraphState& graph) {
    if (!may_have_device_updatable(graph)) return {};
    const NodePlace node = find_node(graph, [](const GraphState& g, std::uint32_t i) {
        const auto* kernel = std::get_if<const KernelParams*>(&records_of(g).nodes()[i].params);
        return kernel != nullptr && is_device_updatable(**kernel);
    });
    if (node) records_of(*node.graph).special().device_updatable = true; // from now on it is known
    return node;
}

} // namespace cudag::detail
