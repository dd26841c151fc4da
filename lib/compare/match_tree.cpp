// A graph tree as one flat graph, for matching with another tree.
#include "match_tree.hpp"

#include "hash.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_attributes.hpp"

#include <functional>
#include <string>
#include <type_traits>
#include <variant>

namespace cudag::detail {

namespace {

void add(Hash& hash, const dim3& size) noexcept {
    hash.add(size.x);
    hash.add(std::uint64_t{size.y} << 32U | size.z);
}

void add(Hash& hash, const cudaPitchedPtr& memory, const cudaPos& position) noexcept {
    hash.add(memory.ptr);
    hash.add(memory.pitch);
    hash.add(memory.ysize);
    hash.add(position.x);
    hash.add(position.y);
    hash.add(position.z);
}

// Fixed parameters of each kind, which updates of single nodes cannot change.

void add_fixed(Hash& hash, const KernelParams& kernel) {
    if (kernel.attributes == nullptr && kernel.unread == nullptr) return;
    const LaunchConfig config = full_config(kernel);
    for (const LaunchAttribute& attribute : launch_attributes()) {
        if (!attribute.is_given(config)) continue;
        hash.add(attribute.id);
        hash.add(std::hash<std::string>()(attribute.text(config)));
    }
}

void add_fixed(Hash& hash, const CopyParams& copy) {
    hash.add(static_cast<std::uint64_t>(copy.kind));
}

void add_fixed(Hash& hash, const cudaMemcpy3DParms& copy) {
    hash.add(static_cast<std::uint64_t>(copy.kind));
    hash.add(static_cast<const void*>(copy.dstArray));
    hash.add(static_cast<const void*>(copy.srcArray));
    add(hash, copy.dstPtr, copy.dstPos);
    add(hash, copy.srcPtr, copy.srcPos);
    hash.add(copy.extent.width);
    hash.add(copy.extent.height);
    hash.add(copy.extent.depth);
}

void add_fixed(Hash& hash, const SetParams& set) {
    hash.add(set.height);
    if (set.height == 1) return;
    hash.add(set.size);
    hash.add(set.pitch);
    hash.add(set.element_bytes);
}

void add_fixed(Hash& hash, const ConditionalParams& conditional) {
    hash.add(conditional.condition);
    hash.add(static_cast<std::uint64_t>(conditional.kind));
    hash.add(conditional.bodies);
}

void add_fixed(Hash& hash, const SemaphoreParams& semaphores) {
    hash.add(semaphores.count);
}

void add_fixed(Hash& hash, const AllocParams& alloc) {
    hash.add(alloc.address);
    hash.add(alloc.bytes);
}

void add_fixed(Hash& hash, const FreeParams& free) {
    hash.add(free.address);
}

// Changeable parameters. Among possible partners, nodes with more of them in common are preferred.

void add_changeable(Hash& hash, const KernelParams& kernel) {
    add(hash, kernel.shape.grid);
    add(hash, kernel.shape.block);
    hash.add(kernel.shape.shared_bytes);
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        const Parameter& parameter = kernel.signature->parameters[i];
        hash.add_bytes(kernel.values + parameter.offset, parameter.size); // separately: there are gaps between them
    }
}

void add_changeable(Hash& hash, const CopyParams& copy) {
    hash.add(copy.destination);
    hash.add(copy.source);
    hash.add(bytes_of(copy));
}

void add_changeable(Hash& hash, const SetParams& set) {
    hash.add(set.destination);
    hash.add(set.value);
    hash.add(set.size);
}

void add_changeable(Hash& hash, const cudaHostNodeParams& host) {
    hash.add(host.userData);
}

void add_changeable(Hash& hash, const EventParams& event) {
    hash.add(static_cast<const void*>(event.event));
}

/// Calls `use` with the block of parameters, if there is one.
template <class Use>
void use_block(const NodeParams& params, const Use& use) {
    const auto visit = [&use](const auto& block) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(block)>, std::monostate>) use(*block);
    };
    std::visit(visit, params);
}

} // namespace

MatchTree::MatchTree(const GraphState& root, const InForce& in_force, LabelNumbers& labels) : in_force_(in_force) {
    add(root, labels);
}

void MatchTree::add(const GraphState& graph, LabelNumbers& labels) {
    const auto first = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
        const NodeRecord& record = graph.records().nodes()[i];
        const NodeParams& params = in_force_.params({&graph, i});
        auto key = static_cast<std::uint64_t>(record.kind); // no address is that small
        if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
            key = reinterpret_cast<std::uintptr_t>((*kernel)->function);
        Hash preference, likeness;
        for_each_access(params, [&](const UsedRange& range) { likeness.add(range.begin); });
        use_block(params, [&](const auto& block) {
            if constexpr (requires { add_changeable(preference, block); }) add_changeable(preference, block);
        });
        places_.push_back({&graph, i});
        graph_.nodes.push_back({key, 0, labels.of(record.label), preference.value(), likeness.value()});
    }
    for (const EdgeRecord& edge : graph.edges())
        graph_.edges.push_back({first + edge.from, first + edge.to, static_cast<std::uint32_t>(edge.kind)});
    for (const auto& inner : graph.nested()) {
        const auto first_inside = static_cast<std::uint32_t>(places_.size());
        for (std::uint32_t i = 0; i < inner->records().nodes().size(); ++i)
            graph_.edges.push_back(
                {first + inner->tree().parent_node(), first_inside + i, inside + inner->tree().number()});
        add(*inner, labels);
    }
}

MatchGraph MatchTree::with_fixed() const {
    MatchGraph graph = graph_;
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
        const NodeParams& params = in_force_.params(places_[i]);
        Hash fixed;
        fixed.add(static_cast<std::uint64_t>(std::int64_t{places_[i].record().device}));
        fixed.add(params.index()); // copies have two kinds of descriptions
        use_block(params, [&](const auto& block) {
            if constexpr (requires { add_fixed(fixed, block); }) add_fixed(fixed, block);
        });
        graph.nodes[i].more = fixed.value();
    }
    return graph;
}

MatchGraph MatchTree::with_kinds() const {
    MatchGraph graph = graph_;
    for (std::uint32_t i = 0; i < places_.size(); ++i)
        graph.nodes[i].key = static_cast<std::uint64_t>(places_[i].record().kind);
    return graph;
}

} // namespace cudag::detail
