// Sets bound arguments in graphs and execs, all or none.
#include <cudag/dynamic_param.hpp>

#include "cuda/failure.hpp"
#include "exec_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "node/function.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <vector>

namespace cudag::detail {

namespace {

/// One bound argument, and what it was before.
struct Change {
    UpdateTarget target;
    Node node;
    std::uint32_t argument;
    const KernelSignature* signature;
    std::size_t former; ///< where its bytes stand
};

const KernelParams& kernel_in(const UpdateTarget& target, const GraphState& graph, std::uint32_t index) {
    const NodeParams& params = target.exec != nullptr ? target.exec->params({&graph, index}) : graph.params(index);
    return *std::get<const KernelParams*>(params);
}

/// The update of a whole graph may have given the node another kernel than the one whose argument was bound.
bool is_bound_parameter(const KernelParams& kernel, const KernelParams& bound, std::uint32_t argument) {
    const KernelSignature& signature = *kernel.signature;
    const Parameter& parameter = bound.signature->parameters[argument];
    if (&signature == bound.signature) return true;
    if (argument >= signature.count) return false;
    const std::type_info* const type = signature.parameters[argument].cpp_type;
    if (type == nullptr || parameter.cpp_type == nullptr) return same_kernel_types(kernel, bound);
    return *type == *parameter.cpp_type;
}

/// The arguments bound to `id` in `target`, and their former values.
void collect(const UpdateTarget& target, const GraphState& graph, std::uint64_t id, std::size_t bytes,
             std::vector<Change>& changes, std::vector<std::byte>& former) {
    for (const Binding& binding : graph.bindings().of(id)) {
        const KernelParams& kernel = kernel_in(target, graph, binding.node);
        const KernelParams& bound = *std::get<const KernelParams*>(graph.nodes()[binding.node].params);
        const KernelSignature& signature = *kernel.signature;
        if (!is_bound_parameter(kernel, bound, binding.argument))
            refuse_other_kernel(
                fmt::format("argument {} is bound to a DynamicParam of {} bytes, but ", binding.argument, bytes),
                kernel_name(kernel.function), node_subject(graph, binding.node, "update of "));
        changes.push_back({target, graph.handle(binding.node), binding.argument, &signature, former.size()});
        const std::byte* value = kernel.values + signature.parameters[binding.argument].offset;
        former.insert(former.end(), value, value + bytes);
    }
    for (const auto& inner : graph.nested())
        collect(target, *inner, id, bytes, changes, former);
}

void collect_all(const UpdateTarget& target, std::uint64_t id, std::size_t bytes, std::vector<Change>& changes,
                 std::vector<std::byte>& former) {
    if (target.exec != nullptr) return collect(target, target.exec->source(), id, bytes, changes, former);
    const auto lock = target.graph->lock();
    collect(target, *target.graph, id, bytes, changes, former);
}

void set_argument(const Change& change, const void* value) {
    ValuePointers values(change.signature->count);
    values.get()[change.argument] = const_cast<void*>(value); // read only
    update_kernel(change.target, change.node, {nullptr, change.signature, nullptr, values.get(), nullptr}, {});
}

} // namespace

std::uint64_t next_dynamic_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

std::size_t set_dynamic(std::uint64_t id, const void* value, std::size_t bytes, const UpdateTarget* targets,
                        std::size_t count) {
    std::vector<Change> changes;
    std::vector<std::byte> former;
    for (const UpdateTarget* target = targets; target != targets + count; ++target)
        collect_all(*target, id, bytes, changes, former);
    std::size_t done = 0;
    try {
        for (; done < changes.size(); ++done)
            set_argument(changes[done], value);
    } catch (...) {
        while (done-- > 0)
            set_argument(changes[done], former.data() + changes[done].former); // was accepted once
        throw;
    }
    return changes.size();
}

} // namespace cudag::detail
