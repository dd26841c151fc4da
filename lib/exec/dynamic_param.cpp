// Updates of arguments bound to DynamicParams, in graphs and execs, all or none.
#include <cudag/dynamic_param.hpp>

#include "all_or_none.hpp"
#include "cuda/failure.hpp"
#include "exec_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "lists/none.hpp"
#include "node/function.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// An argument bound to a parameter.
struct BoundArgument {
    std::uint32_t argument;
    AccessMode mode;
    std::size_t element_bytes; ///< of a span; 0 for other arguments
    std::size_t former;        ///< offset of the former bytes
};

/// A value driven by a parameter: a launch shape, or a size.
struct Drive {
    LaunchShape shape = {};
    std::unique_ptr<const LaunchConfig> attributes = nullptr; ///< with the shape; null without attributes
    std::size_t count = 0;
};

/// A change of one node by a parameter: one call of CUDA, whatever the node has from the parameter.
struct DynamicChange {
    UpdateTarget target;
    Node node;
    const KernelSignature* signature = nullptr; ///< of a kernel
    std::size_t first = 0, last = 0;            ///< its arguments in the list of all
    bool is_driven = false;
    Drive next = {}, former = {};
};

struct DynamicChanges {
    std::vector<DynamicChange> nodes;
    std::vector<BoundArgument> arguments;
    std::vector<std::byte> former; ///< bytes of the arguments
    std::size_t bindings = 0;
};

const NodeParams& params_in(const UpdateTarget& target, const GraphState& graph, std::uint32_t index) {
    return target.exec != nullptr ? target.exec->effective().of({&graph, index}) : graph.records().params(index);
}

/// Whether the argument has the type of the bound one: a whole update may have given the node another kernel.
bool is_bound_parameter(const KernelParams& kernel, const KernelParams& bound, std::uint32_t argument) {
    const KernelSignature& signature = *kernel.signature;
    const Parameter& parameter = bound.signature->parameters[argument];
    if (&signature == bound.signature) return true;
    if (argument >= signature.count) return false;
    const Parameter& current = signature.parameters[argument];
    if (current.cpp_type == nullptr || parameter.cpp_type == nullptr) return same_kernel_types(kernel, bound);
    return current.has_type_of(parameter);
}

std::string elements_text(const ElementCount& count) {
    return count.is_negative ? fmt::to_string(static_cast<std::int64_t>(count.value)) : fmt::to_string(count.value);
}

/// Returns the shape or size that `driven` makes of the value. Throws UpdateError if the size is below 1 or above
/// `most`, the node's original number of elements.
template <class MakeSubject>
Drive drive_of(const Driven& driven, const void* value, std::size_t most, const MakeSubject& subject) {
    if (driven.config) {
        const LaunchConfig config = driven.config(value);
        return {shape_of(config), has_attributes(config) ? std::make_unique<const LaunchConfig>(config) : nullptr};
    }
    const ElementCount count = driven.count(value);
    if (count.is_negative || count.value < 1 || count.value > most)
        refuse<UpdateError>(
            fmt::format("a DynamicParam drives it to {} elements; it takes 1 to {}, the number that it was made with",
                        elements_text(count), most),
            subject());
    return {.count = static_cast<std::size_t>(count.value)};
}

/// Returns the bindings by node; each node's own stay in the order of their addition.
std::vector<const Binding*> by_node(const std::vector<Binding>& bindings) {
    std::vector<const Binding*> sorted(bindings.size());
    std::ranges::transform(bindings, sorted.begin(), [](const Binding& binding) { return &binding; });
    std::ranges::stable_sort(sorted, {}, [](const Binding* binding) { return binding->node; });
    return sorted;
}

/// Adds a drive, or an argument with its former bytes, to the change of its node.
void add_binding(const GraphState& graph, const Binding& binding, const DynamicValue& value, const NodeParams& params,
                 DynamicChanges& changes) {
    DynamicChange& change = changes.nodes.back();
    const auto subject = [&] { return node_subject(graph, binding.node, "update of "); };
    if (binding.driven != nullptr) {
        change.next = drive_of(*binding.driven, value.value, binding.most, subject);
        change.is_driven = true;
        return;
    }
    const KernelParams& kernel = *std::get<const KernelParams*>(params);
    const KernelParams& bound = *std::get<const KernelParams*>(graph.records().nodes()[binding.node].params);
    if (!is_bound_parameter(kernel, bound, binding.argument))
        refuse_other_kernel(
            fmt::format("argument {} is bound to a DynamicParam of {} bytes, but ", binding.argument, value.bytes),
            kernel_name(kernel.function), subject());
    changes.arguments.push_back({binding.argument, binding.mode, binding.element_bytes, changes.former.size()});
    change.last = changes.arguments.size();
    const std::byte* const former = kernel.values + kernel.signature->parameters[binding.argument].offset;
    changes.former.insert(changes.former.end(), former, former + value.bytes);
}

/// Appends the changes of nodes bound to `id` in `target`, or driven by it.
void collect(const UpdateTarget& target, const GraphState& graph, std::uint64_t id, const DynamicValue& value,
             DynamicChanges& changes) {
    std::uint32_t last = none;
    const auto add = [&](const Binding& binding) {
        const NodeParams& params = params_in(target, graph, binding.node);
        if (binding.node != std::exchange(last, binding.node)) {
            const std::size_t first = changes.arguments.size();
            DynamicChange& change = changes.nodes.emplace_back(DynamicChange{
                .target = target, .node = graph.identity().handle(binding.node), .first = first, .last = first});
            change.former.count = elements_of(params);
            if (const auto* const* kernel = std::get_if<const KernelParams*>(&params)) {
                change.signature = (*kernel)->signature;
                change.former.shape = (*kernel)->shape;
            }
        }
        add_binding(graph, binding, value, params, changes);
        ++changes.bindings;
    };
    const std::vector<Binding>& bindings = graph.records().bindings().of(id);
    changes.nodes.reserve(changes.nodes.size() + bindings.size());
    if (std::ranges::is_sorted(bindings, {}, &Binding::node))
        std::ranges::for_each(bindings, add);
    else
        for (const Binding* const binding : by_node(bindings))
            add(*binding);
    for (const auto& inner : graph.nested())
        collect(target, *inner, id, value, changes);
}

void collect_all(const UpdateTarget& target, std::uint64_t id, const DynamicValue& value, DynamicChanges& changes) {
    if (target.exec != nullptr) return collect(target, target.exec->source(), id, value, changes);
    const auto lock = target.graph->lock();
    collect(target, *target.graph, id, value, changes);
}

/// Gives a node what `drive` drives, and its arguments the values that `value_of` finds for them.
template <class ValueOf>
void set(const DynamicChanges& changes, const DynamicChange& change, const Drive& drive,
         MemoryBlock (*region)(const void*), const ValueOf& value_of) {
    if (change.signature == nullptr) return update_size(change.target, change.node, drive.count);
    ValuePointers values(change.signature->count);
    CallEffects effects;
    for (std::size_t i = change.first; i < change.last; ++i) {
        const BoundArgument& bound = changes.arguments[i];
        const void* const value = value_of(bound);
        values.get()[bound.argument] = const_cast<void*>(value); // read only
        if (bound.element_bytes != 0 && region != nullptr)
            touch(effects, bound.argument, bound.mode, bound.element_bytes, region(value));
    }
    const PassedConfig config = drive.attributes != nullptr ? PassedConfig(*drive.attributes) : drive.shape;
    update_kernel(change.target, change.node,
                  {nullptr, change.signature, change.is_driven ? &config : nullptr, values.get(), nullptr},
                  std::move(effects));
}

} // namespace

std::uint64_t next_dynamic_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

std::size_t set_dynamic(std::uint64_t id, const DynamicValue& value, const UpdateTarget* targets, std::size_t count) {
    DynamicChanges changes;
    for (const UpdateTarget* target = targets; target != targets + count; ++target)
        collect_all(*target, id, value, changes);
    const auto give = [&](std::size_t i) {
        const DynamicChange& change = changes.nodes[i];
        set(changes, change, change.next, value.region, [&](const BoundArgument&) { return value.value; });
        return NativeResult{cudaSuccess, ""}; // `set` throws refusals
    };
    const auto take_back = [&](std::size_t i) {
        const DynamicChange& change = changes.nodes[i];
        set(changes, change, change.former, value.region,
            [&](const BoundArgument& bound) { return changes.former.data() + bound.former; });
    };
    static_cast<void>(AllOrNone(give, take_back).push(changes.nodes.size()));
    return changes.bindings;
}

void drive(std::uint64_t id, const Node& node, Driven&& driven, const void* value) {
    GraphState& graph = GraphIdentity::of(node);
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    const auto subject = [&] { return node_subject(graph, index, "drive: "); };
    if (graph.construction().is_built) refuse("its graph is built; call drive() before build()", subject());
    const std::size_t most = elements_of(graph.records().nodes()[index].params);
    if (driven.count && most == 0)
        refuse("it has more than one dimension, or is of a kind that cudag does not read; a DynamicParam drives copies "
               "and fills of ranges only",
               subject());
    const auto shared = std::make_shared<const Driven>(std::move(driven));
    graph.records().bindings().reserve(id);
    if (const Drive first = drive_of(*shared, value, most, subject); shared->config)
        update_launch({nullptr, &graph}, node,
                      first.attributes != nullptr ? *first.attributes : config_of(first.shape, nullptr));
    else
        update_size({nullptr, &graph}, node, first.count);
    graph.records().bindings().add(id, {index, 0, shared, most});
}

} // namespace cudag::detail
