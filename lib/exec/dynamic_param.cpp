// Updates of arguments bound to DynamicParams, in graphs and execs, all or none.
#include <cudag/dynamic_param.hpp>

#include "cuda/failure.hpp"
#include "exec_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "node/function.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// A value driven by a parameter: a launch shape or a size.
struct Drive {
    LaunchConfig config = {};
    std::size_t count = 0;
};

/// A change of one node by a parameter, with the former value.
struct Change {
    UpdateTarget target;
    Node node;
    std::uint32_t argument = 0;
    const KernelSignature* signature = nullptr;
    std::size_t former = 0; ///< offset of the argument's former bytes
    AccessMode mode = {};
    std::size_t element_bytes = 0; ///< of a span; 0 for other arguments
    const Driven* driven = nullptr;
    Drive next = {}, driven_before = {};
};

const NodeParams& params_in(const UpdateTarget& target, const GraphState& graph, std::uint32_t index) {
    return target.exec != nullptr ? target.exec->params({&graph, index}) : graph.params(index);
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
    if (driven.config) return {driven.config(value)};
    const ElementCount count = driven.count(value);
    if (count.is_negative || count.value < 1 || count.value > most)
        refuse<UpdateError>(
            fmt::format("a DynamicParam drives it to {} elements; it takes 1 to {}, the number that it was made with",
                        elements_text(count), most),
            subject());
    return {{}, static_cast<std::size_t>(count.value)};
}

/// The number of elements of a one-dimensional copy or fill; 0 for other nodes.
std::size_t elements_of(const NodeParams& params) noexcept {
    if (const auto* copy = std::get_if<const CopyParams*>(&params)) return (*copy)->source_size;
    if (const auto* set = std::get_if<const SetParams*>(&params))
        return (*set)->height == 1 ? (*set)->size / (*set)->parts : 0;
    return 0;
}

void set_driven(const UpdateTarget& target, const Node& node, const Driven& driven, const Drive& next) {
    if (driven.config)
        update_launch(target, node, next.config);
    else
        update_size(target, node, next.count);
}

/// Appends the changes of arguments bound to `id` in `target`, and of nodes driven by it, with their former values.
void collect(const UpdateTarget& target, const GraphState& graph, std::uint64_t id, const void* given,
             std::size_t bytes, std::vector<Change>& changes, std::vector<std::byte>& former) {
    for (const Binding& binding : graph.bindings().of(id)) {
        const NodeParams& params = params_in(target, graph, binding.node);
        if (binding.driven != nullptr) {
            const auto subject = [&] { return node_subject(graph, binding.node, "update of "); };
            Change change{target, graph.handle(binding.node)};
            change.driven = binding.driven.get();
            change.next = drive_of(*binding.driven, given, binding.most, subject);
            if (const auto* kernel = std::get_if<const KernelParams*>(&params))
                change.driven_before.config = config_of((*kernel)->shape, nullptr);
            change.driven_before.count = elements_of(params);
            changes.push_back(std::move(change));
            continue;
        }
        const KernelParams& kernel = *std::get<const KernelParams*>(params);
        const KernelParams& bound = *std::get<const KernelParams*>(graph.nodes()[binding.node].params);
        const KernelSignature& signature = *kernel.signature;
        if (!is_bound_parameter(kernel, bound, binding.argument))
            refuse_other_kernel(
                fmt::format("argument {} is bound to a DynamicParam of {} bytes, but ", binding.argument, bytes),
                kernel_name(kernel.function), node_subject(graph, binding.node, "update of "));
        changes.push_back({target, graph.handle(binding.node), binding.argument, &signature, former.size(),
                           binding.mode, binding.element_bytes});
        const std::byte* value = kernel.values + signature.parameters[binding.argument].offset;
        former.insert(former.end(), value, value + bytes);
    }
    for (const auto& inner : graph.nested())
        collect(target, *inner, id, given, bytes, changes, former);
}

void collect_all(const UpdateTarget& target, std::uint64_t id, const void* given, std::size_t bytes,
                 std::vector<Change>& changes, std::vector<std::byte>& former) {
    if (target.exec != nullptr) return collect(target, target.exec->source(), id, given, bytes, changes, former);
    const auto lock = target.graph->lock();
    collect(target, *target.graph, id, given, bytes, changes, former);
}

void set_argument(const Change& change, const DynamicValue& value) {
    ValuePointers values(change.signature->count);
    values.get()[change.argument] = const_cast<void*>(value.value); // read only
    CallEffects effects;
    if (change.element_bytes != 0 && value.region != nullptr)
        touch(effects, change.argument, change.mode, change.element_bytes, value.region(value.value));
    update_kernel(change.target, change.node, {nullptr, change.signature, nullptr, values.get(), nullptr},
                  std::move(effects));
}

void set(const Change& change, const Drive& drive, const DynamicValue& value) {
    if (change.driven != nullptr)
        set_driven(change.target, change.node, *change.driven, drive);
    else
        set_argument(change, value);
}

} // namespace

std::uint64_t next_dynamic_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

std::size_t set_dynamic(std::uint64_t id, const DynamicValue& value, const UpdateTarget* targets, std::size_t count) {
    std::vector<Change> changes;
    std::vector<std::byte> former;
    for (const UpdateTarget* target = targets; target != targets + count; ++target)
        collect_all(*target, id, value.value, value.bytes, changes, former);
    std::size_t done = 0;
    try {
        for (; done < changes.size(); ++done)
            set(changes[done], changes[done].next, value);
    } catch (...) {
        while (done-- > 0)
            set(changes[done], changes[done].driven_before,
                {former.data() + changes[done].former, value.bytes, value.region}); // CUDA has accepted it before
        throw;
    }
    return changes.size();
}

void drive(std::uint64_t id, const Node& node, Driven&& driven, const void* value) {
    GraphState& graph = GraphState::of(node);
    const std::uint32_t index = GraphState::index_unchecked(node);
    const auto subject = [&] { return node_subject(graph, index, "drive: "); };
    if (graph.is_built()) refuse("its graph is built; call drive() before build()", subject());
    const std::size_t most = elements_of(graph.nodes()[index].params);
    if (driven.count && most == 0)
        refuse("it has more than one dimension, or is of a kind that cudag does not read; a DynamicParam drives copies "
               "and fills of ranges only",
               subject());
    const auto shared = std::make_shared<const Driven>(std::move(driven));
    graph.bindings().reserve(id);
    set_driven({nullptr, &graph}, node, *shared, drive_of(*shared, value, most, subject));
    graph.bindings().add(id, {index, 0, shared, most});
}

} // namespace cudag::detail
