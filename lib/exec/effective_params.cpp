// The effective parameters of the nodes of one exec: a basis, and shadows.
#include "effective_params.hpp"

#include "compare/diff.hpp"
#include "exec_nodes.hpp"

#include <memory>
#include <utility>

namespace cudag::detail {

const GraphState& EffectiveParams::inside_basis(const GraphState& graph) const {
    return *in_basis(*graph.tree().parent()).nested()[graph.tree().position()];
}

Shadow& EffectiveParams::make_shadow(std::uint32_t number, const NodePlace& node) {
    return shadows_->make(number, source_.tree().node_total(), as_made(node));
}

const NodeParams& EffectiveParams::of(const NodePlace& node) const {
    const Shadow* const shadow = find_shadow(node);
    return shadow != nullptr ? shadow->params.view() : as_made(node);
}

const NodeParams& EffectiveParams::as_made(const NodePlace& node) const {
    return in_basis(*node.graph).records().nodes()[node.index].params;
}

std::unique_ptr<Shadows> EffectiveParams::shadows_from(const GraphState& basis,
                                                       const std::list<NodePlace>& disabled_memsets,
                                                       const std::list<NodePlace>& batches) const {
    if (basis.changes().version() == 0 && disabled_memsets.empty() && batches.empty()) return nullptr;
    auto shadows = std::make_unique<Shadows>();
    for_each_graph_pair(source_, basis, [&](const GraphState& mine, const GraphState& theirs) {
        for (const UpdatedNode& node : theirs.records().updated().all()) {
            if (node.index >= mine.records().nodes().size()) continue; // CUDA will refuse such a graph
            Shadow& shadow =
                shadows->make(mine.tree().first_number() + node.index, source_.tree().node_total(), node.params);
            shadow.owners = version_of(Owners(node.owners));
            shadow.declared = node.accesses;
        }
        const auto shadow_of = [&](const NodePlace& node) -> Shadow* {
            if (node.graph != &mine || node.index >= theirs.records().nodes().size()) return nullptr;
            const std::uint32_t number = mine.tree().first_number() + node.index;
            Shadow* const shadow = shadows->find(number);
            return shadow != nullptr
                       ? shadow
                       : &shadows->make(number, source_.tree().node_total(), theirs.records().params(node.index));
        };
        for (const NodePlace& node : disabled_memsets) // they stay disabled
            if (Shadow* const shadow = shadow_of(node)) shadow->is_disabled_memset = true;
        for (const NodePlace& node : batches)
            if (Shadow* const shadow = shadow_of(node)) shadow->disabled_copies = find_shadow(node)->disabled_copies;
    });
    return shadows;
}

void EffectiveParams::replace_shadows(std::unique_ptr<Shadows>&& shadows, InFlight& in_flight) noexcept {
    shadows_->retire(in_flight);
    if (shadows != nullptr)
        shadows_ = std::move(shadows);
    else if (!shadows_->empty())
        shadows_->clear();
}

} // namespace cudag::detail
