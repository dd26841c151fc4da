// Updates of an exec by the differing nodes of a graph, if they are few.
#include "update_few.hpp"

#include "all_or_none.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "exec_declarations.hpp"
#include "graph/graph_state.hpp"
#include "order/declarations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// CUDA takes about as long to update one node as to find this many nodes of a whole graph unchanged.
constexpr std::size_t unchanged_for_one = 8;

/// The update needed by a node.
enum class NodeUpdate { none, by_itself, with_all };

/// Whether both launch the same function, without attributes. Equal pointers to signatures mean equal types, or one
/// node before and after an update.
bool have_one_function(const KernelParams& a, const KernelParams& b) noexcept {
    return a.function == b.function && a.signature == b.signature && a.attributes == nullptr && b.attributes == nullptr;
}

bool same_shape(const LaunchShape& a, const LaunchShape& b) noexcept {
    static_assert(sizeof(LaunchShape) == 2 * sizeof(dim3) + sizeof(std::size_t)); // no padding between its members
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Whether both are kernels launched with the same bytes. Quick, and usually enough for nearly all nodes.
bool are_equal_kernels(const NodeParams& current, const NodeParams& wanted) noexcept {
    const auto* const* a = std::get_if<const KernelParams*>(&current);
    const auto* const* b = std::get_if<const KernelParams*>(&wanted);
    return a != nullptr && b != nullptr && have_one_function(**a, **b) && same_shape((*a)->shape, (*b)->shape) &&
           std::memcmp((*a)->values, (*b)->values, (*b)->signature->bytes) == 0;
}

/// Returns the first node from `node` on without equal kernels in both lists; their length if there is none. A separate
/// function, so its loop has the processor's registers to itself.
[[gnu::noinline]] std::uint32_t next_unequal(const std::vector<NodeRecord>& current,
                                             const std::vector<NodeRecord>& wanted, std::uint32_t node) noexcept {
    while (node < current.size() && are_equal_kernels(current[node].params, wanted[node].params))
        ++node;
    return node;
}

bool same_values(const KernelSignature& signature, const std::byte* a, const std::byte* b) noexcept {
    if (std::memcmp(a, b, signature.bytes) == 0) [[likely]]
        return true;
    return std::all_of(signature.parameters, signature.parameters + signature.count, [&](const Parameter& parameter) {
        return std::memcmp(a + parameter.offset, b + parameter.offset, parameter.size) == 0;
    }); // padding may differ
}

NodeUpdate update_needed(const KernelParams& current, const KernelParams& wanted) noexcept {
    if (!have_one_function(current, wanted)) return NodeUpdate::with_all;
    const bool same =
        same_shape(current.shape, wanted.shape) && same_values(*wanted.signature, current.values, wanted.values);
    return same ? NodeUpdate::none : NodeUpdate::by_itself;
}

NodeUpdate update_needed(NodeKind kind, const NodeParams& current, const NodeParams& wanted) {
    if (current.index() != wanted.index()) return NodeUpdate::with_all;
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&wanted)) [[likely]]
        return update_needed(**std::get_if<const KernelParams*>(&current), **kernel);
    const bool is_copy_or_fill =
        std::holds_alternative<const CopyParams*>(wanted) || std::holds_alternative<const SetParams*>(wanted);
    if (is_copy_or_fill) return same_params(current, wanted) ? NodeUpdate::none : NodeUpdate::by_itself;
    return kind == NodeKind::empty ? NodeUpdate::none : NodeUpdate::with_all;
}

bool brings_owners(const GraphState& graph) {
    const auto& updated = graph.records().updated().all();
    return graph.records().special().owners ||
           std::ranges::any_of(updated, [](const UpdatedNode& node) { return !node.owners.empty(); });
}

/// Returns the nodes to update one by one; nothing if CUDA must take the whole graph.
std::optional<std::vector<std::uint32_t>> nodes_to_update(const ExecState& exec, const GraphState& graph) {
    const std::vector<NodeRecord>& nodes = exec.source().records().nodes();
    const std::vector<NodeRecord>& next = graph.records().nodes();
    const std::vector<NodeRecord>& last = exec.effective().basis().records().nodes();
    const bool is_as_made = !exec.effective().has_shadows() && graph.records().updated().all().empty();
    const bool is_silent = is_as_made && exec.effective().basis().records().initial_accesses().empty() &&
                           graph.records().initial_accesses().empty();
    const std::size_t most = nodes.size() / unchanged_for_one;
    std::vector<ArgumentAccess> buffer;
    const auto declares_same = [&](std::uint32_t index) {
        return is_silent || declares_as(exec, {&exec.source(), index}, graph, index, buffer);
    };
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (is_silent && (i = next_unequal(last, next, i)) == nodes.size()) break;
        const NodeKind kind = nodes[i].kind;
        if (next[i].kind != kind) return std::nullopt;
        const NodeUpdate update =
            is_as_made ? update_needed(kind, last[i].params, next[i].params)
                       : update_needed(kind, exec.effective().of({&exec.source(), i}), graph.records().params(i));
        if (update == NodeUpdate::none && declares_same(i)) [[likely]]
            continue;
        if (update == NodeUpdate::with_all || found.size() == most) return std::nullopt;
        found.push_back(i);
    }
    return found;
}

/// Gives CUDA the parameters of these nodes. If it refuses one, restores all and returns false.
bool push(ExecState& exec, const GraphState& graph, const std::vector<std::uint32_t>& nodes) {
    const auto give = [&](std::size_t i) {
        return exec.set_params({&exec.source(), nodes[i]}, graph.records().params(nodes[i]), nullptr);
    };
    const auto take_back = [&](std::size_t i) {
        const NodePlace place{&exec.source(), nodes[i]};
        const NativeResult result = exec.set_params(place, exec.effective().of(place), nullptr);
        ignore(result);
    };
    bind_context();
    return !AllOrNone(give, take_back).push(nodes.size());
}

} // namespace

bool update_few(ExecState& exec, const std::shared_ptr<GraphState>& basis) {
    const GraphState& graph = *basis;
    const auto lock = graph.lock();
    if (brings_owners(graph) || brings_owners(exec.effective().basis())) return false;
    const GraphState& source = exec.source();
    if (source.records().nodes().size() != graph.records().nodes().size()) return false;
    const std::optional<std::vector<std::uint32_t>> nodes = nodes_to_update(exec, graph);
    if (!nodes || source.edges() != graph.edges()) return false; // nodes first: they usually differ
    if (nodes->empty()) return true;
    std::unique_ptr<Shadows> shadows = exec.shadows_from(graph);
    if (!push(exec, graph, *nodes)) return false; // CUDA may accept it in a whole update
    if (shadows == nullptr && exec.has_basis_alone()) [[likely]]
        exec.rebase(basis); // the next graph is compared with it
    else
        exec.rebase(basis, std::move(shadows), {}, {});
    return true;
}

} // namespace cudag::detail
