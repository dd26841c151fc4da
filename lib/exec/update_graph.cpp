// Whole updates of execs. The graphs are compared first, to give a refusal its reason.
#include "update_graph.hpp"

#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "compare/diff.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/observing.hpp"
#include "cuda/tool_range.hpp"
#include "exec_in_force.hpp"
#include "exec_nodes.hpp"
#include "exec_state.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "owners/reclaim.hpp"
#include "recorder/marks.hpp"
#include "recorder/recorder.hpp"
#include "update_by_structure.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

/// Words for a verdict: CUDA has none.
const char* words(UpdateVerdict verdict) {
    switch (verdict) {
    case UpdateVerdict::updated:
        return "";
    case UpdateVerdict::refused:
        return "CUDA refused the update for a reason that it does not classify";
    case UpdateVerdict::topology_changed:
        return "the nodes or edges differ from those of the exec";
    case UpdateVerdict::node_kind_changed:
        return "a node is of another kind";
    case UpdateVerdict::function_changed:
    case UpdateVerdict::unsupported_function_change:
        return "a kernel changed in a way that CUDA does not support";
    case UpdateVerdict::parameters_changed:
        return "parameters changed that CUDA fixes at instantiation";
    case UpdateVerdict::not_supported:
        return "CUDA does not support updating this node";
    case UpdateVerdict::attributes_changed:
        return "attributes of a kernel changed, which CUDA fixes at instantiation";
    }
    return "";
}

UpdateReport refused(const ExecState& exec, const GraphState& next, UpdateVerdict verdict,
                     std::vector<Difference>&& structure, cudaGraphNode_t culprit, const std::string& more) {
    std::vector<Difference> differences = std::move(structure);
    if (differences.empty()) differences = diff_nodes(exec.source(), ExecInForce(exec), next, true);
    const auto decisive = [&](const Difference& difference) {
        if (culprit != nullptr && difference.after != Node()) return difference.after.native() == culprit;
        return difference.needs_instantiate;
    };
    std::stable_partition(differences.begin(), differences.end(), decisive);
    std::string reason = words(verdict);
    const auto is_culprit = [&](const Difference& difference) {
        return difference.after != Node() && difference.after.native() == culprit;
    };
    if (culprit != nullptr && std::none_of(differences.begin(), differences.end(), is_culprit))
        reason += "; CUDA names " + describe_native(next, culprit);
    if (!more.empty()) reason += "; " + more;
    return {Passkey(), verdict, std::move(reason), std::move(differences), true};
}

/// Returns cudag's reason against an update to `next`; nothing if it knows none.
std::optional<UpdateReport> find_obstacle(const ExecState& exec, const GraphState& next) {
    if (std::string reason = about_device_updatable(exec.source(), next); !reason.empty())
        return UpdateReport{Passkey(), UpdateVerdict::not_supported, std::move(reason), {}, true};
    if (&next != &exec.exclusive_graph() && next.execs().any())
        if (const NodePlace node = find_memory_node(next))
            return UpdateReport{Passkey(),
                                UpdateVerdict::not_supported,
                                "an Exec of the graph is alive, and CUDA allows one of a graph with " +
                                    describe_node(*node.graph, node.index) + ": destroy that Exec first",
                                {},
                                false};
    std::vector<Difference> structure = diff_structure(exec.source(), next);
    if (structure.empty()) {
        const std::string ignored = silently_ignored(exec.source(), next);
        if (ignored.empty()) return std::nullopt;
        return refused(exec, next, UpdateVerdict::attributes_changed, {}, nullptr, ignored);
    }
    const bool kinds = structure.front().kind == DifferenceKind::node_kind;
    return refused(exec, next, kinds ? UpdateVerdict::node_kind_changed : UpdateVerdict::topology_changed,
                   std::move(structure), nullptr, {});
}

/// Whether a graph brings nothing but parameters to an exec, as far as known.
bool is_plain(const GraphState& graph) {
    const NodeFlags& special = graph.records().special();
    return graph.records().has_known_nodes() && graph.nested().empty() && graph.changes().version() == 0 &&
           !special.memory && !special.host_tasks.load(std::memory_order_relaxed);
}

/// The state that a graph brings to an exec in addition to parameters.
struct IncomingState {
    std::unique_ptr<Shadows> shadows;
    std::vector<HostNodeRun> hosts;
    OwnerVersions host_owners;

    IncomingState(ExecState& exec, const GraphState& next)
        : shadows(exec.shadows_from(next)), hosts(exec.hosts().runs(exec.source(), next)),
          host_owners(version_of(owners_of(hosts))) {
        static_cast<void>(has_memory_nodes(exec.source())); // reads the graph: rebase() asks, and cannot fail
    }
};

/// The kinds of an exec's nodes, for a look at the nodes of `next`: none if that is read already.
std::span<const NodeKind> kinds_for(ExecState& exec, const GraphState& next) {
    return next.records().has_known_nodes() ? std::span<const NodeKind>() : exec.kinds();
}

/// Reports CUDA's refusal of `next`; `known` if cudag has compared the graphs without finding a reason. Throws
/// UpdateError if the cause is outside the graph.
UpdateReport report_refusal(const ExecState& exec, const GraphState& next, cudaError_t status,
                            const CUgraphExecUpdateResultInfo& info, bool known) {
    const CallFailure failure = describe_failure(status, "cuGraphExecUpdate", {}, Api::driver);
    const bool classified = status == cudaErrorGraphExecUpdateFailure;
    const bool about_the_graph = status == cudaErrorInvalidValue || status == cudaErrorNotSupported;
    if (!classified && !about_the_graph) throw UpdateError(status, failure.text, failure.details);
    if (!known)
        if (std::optional<UpdateReport> obstacle = find_obstacle(exec, next)) return std::move(*obstacle);
    const std::string& log = failure.details.log;
    return refused(exec, next, classified ? static_cast<UpdateVerdict>(info.result) : UpdateVerdict::refused, {},
                   info.errorNode, log.empty() ? log : "CUDA's log: " + log);
}

} // namespace

UpdateReport update_whole(ExecState& exec, const std::shared_ptr<GraphState>& basis, const UpdateOptions& options,
                          Compared compared) {
    GraphState& next = *basis;
    const auto lock = next.lock();
    // A captured graph is not read for an update that CUDA takes: reading costs more than all the rest.
    const bool known = (compared == Compared::first && exec.source().records().is_read() && next.records().is_read()) ||
                       (compared == Compared::first && exec.options().recorder) ||
                       has_device_updatable(exec.source()) || has_device_updatable(next) ||
                       (!options.trust_attributes && may_ignore_silently(exec.source(), next, kinds_for(exec, next)));
    if (known)
        if (std::optional<UpdateReport> obstacle = find_obstacle(exec, next)) return std::move(*obstacle);
    complete_source(exec, exec.source(), next);
    const bool plain = exec.has_basis_alone() && is_plain(next);
    std::optional<OwnerVersions> owners = exec.owners().brought_by(next);
    std::optional<IncomingState> incoming;
    if (!plain) incoming.emplace(exec, next);

    Owners of_kernels; // launches by kernels are CUDA's alone to see; it lets go of those of the last basis
    if (exec.options().device_launch) list_owners(next, of_kernels);
    const WithoutUserObjects as_owned(next);
    const KeptForExecs kept(next.native(), of_kernels, KeptForExecs::Call::update);
    std::optional<Marks> marks; // CUDA compares them, too
    if (exec.options().recorder) marks.emplace(next, exec.source(), *Recorder::find(exec.native()));
    CUgraphExecUpdateResultInfo info{};
    bind_context();
    const cudaError_t status = to_runtime(driver().graph_exec_update(exec.native(), next.native(), &info));
    if (status != cudaSuccess) [[unlikely]]
        return report_refusal(exec, next, status, info, known);
    if (plain) [[likely]]
        exec.rebase(basis);
    else
        exec.rebase(basis, std::move(incoming->shadows), incoming->hosts, std::move(incoming->host_owners));
    if (owners) [[unlikely]]
        exec.owners().keep_basis(std::move(*owners), exec.in_flight());
    return UpdateReport(Passkey());
}

} // namespace detail

namespace {

UpdateReport update_to(detail::ExecState& exec, const Graph& graph, const UpdateOptions& options) {
    const detail::NoWaiting no_waiting; // the former basis may be the last owner of something
    require_root(detail::Access::state(graph), "update");
    const std::shared_ptr<detail::GraphState>& next = detail::Access::shared_state(graph);
    UpdateReport report = options.match == Match::structure ? detail::update_by_structure(exec, next, options)
                                                            : detail::update_whole(exec, next, options);
    if (report.differences().empty() || &exec.made_from() == &exec.source()) return report;
    std::vector<Difference> differences = report.differences();
    for (Difference& difference : differences)
        if (difference.before != Node()) difference.before = exec.handle_of(exec.node_of(difference.before));
    return {detail::Passkey(), report.verdict(), report.reason(), std::move(differences), report.needs_instantiate()};
}

/// Delivers the event of the update.
UpdateReport update_observed(detail::ExecState& exec, const Graph& graph, const UpdateOptions& options) {
    const detail::GraphState& next = detail::Access::state(graph);
    const detail::CallTime time;
    try {
        UpdateReport report = update_to(exec, graph, options);
        detail::observe([&]() -> Observation {
            if (!report.updated()) return {ObservedRefusal{"update", describe_graph(next), report.to_string()}};
            return {ObservedUpdate{describe_graph(next), fmt::format("by {}", to_string(options.match)),
                                   time.milliseconds()}};
        });
        return report;
    } catch (const Error& error) {
        detail::observe([&] { return ObservedRefusal{"update", describe_graph(next), error.what()}; });
        throw;
    }
}

} // namespace

UpdateReport Exec::update(const Graph& graph, UpdateOptions options) {
    detail::ExecState& exec = state();
    [[maybe_unused]] const detail::ToolRange range(
        [&] { return "update to " + describe_graph(detail::Access::state(graph)); });
    if (detail::is_observed()) [[unlikely]]
        return update_observed(exec, graph, options);
    return update_to(exec, graph, options);
}

std::string_view to_string(Match match) noexcept {
    return match == Match::order ? "order" : "structure";
}

std::string_view to_string(UpdateVerdict verdict) noexcept {
    switch (verdict) {
    case UpdateVerdict::updated:
        return "updated";
    case UpdateVerdict::refused:
        return "refused";
    case UpdateVerdict::topology_changed:
        return "topology_changed";
    case UpdateVerdict::node_kind_changed:
        return "node_kind_changed";
    case UpdateVerdict::function_changed:
        return "function_changed";
    case UpdateVerdict::parameters_changed:
        return "parameters_changed";
    case UpdateVerdict::not_supported:
        return "not_supported";
    case UpdateVerdict::unsupported_function_change:
        return "unsupported_function_change";
    case UpdateVerdict::attributes_changed:
        return "attributes_changed";
    }
    return "unknown";
}

std::string UpdateReport::to_string() const {
    if (updated()) return "updated";
    std::string text = fmt::format("not updated: {}: {}", cudag::to_string(verdict_), reason_);
    text += detail::list_differences(differences_);
    if (needs_instantiate_) text += "\n  to run this graph, instantiate it";
    return text;
}

} // namespace cudag
