// Exec::update_or_instantiate: an update, else the former instance, else a new one.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "compare/structure.hpp"
#include "cuda/no_waiting.hpp"
#include "exec_state.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_state.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace cudag {

namespace {

using detail::ExecState, detail::FormerExec, detail::GraphState;

std::uint64_t structure_now(const GraphState& graph) {
    const auto lock = graph.lock();
    return structure_of(graph);
}

bool has_dynamic_params(const GraphState& root) {
    bool has = false;
    for_each_graph(root, [&](const GraphState& graph) {
        graph.records().bindings().for_each([&](std::uint64_t, const detail::Binding&) { has = true; });
    });
    return has;
}

/// Whether an exec may stay while another one runs in its place: it does not keep its graph from other Execs, and
/// another graph's handles and parameters will do for it.
bool can_stay(ExecState& exec) {
    std::optional<bool>& of_source = exec.turns().can_source_stay;
    if (!of_source) {
        const GraphState& graph = exec.source();
        const auto lock = graph.lock();
        of_source = !has_memory_nodes(graph) && !find_device_updatable(graph) &&
                    !find_unlike(graph, &detail::KindRules::can_have_execs) && !has_dynamic_params(graph);
    }
    return *of_source && exec.turns().may_stay && !exec.options().device_launch;
}

/// Updates the former instance of `exec`, and exchanges the two. Nothing if `graph` has another structure.
std::optional<UpdateReport> switch_to_former(Exec& exec, const Graph& graph, const UpdateOptions& options) {
    ExecState& now = detail::Access::state(exec);
    const std::shared_ptr<GraphState>& next = detail::Access::shared_state(graph);
    FormerExec* const former = now.turns().former.get();
    if (former == nullptr || !former->exec || options.match != Match::order || &next->root() != next.get())
        return std::nullopt;
    if (structure_now(*next) != former->structure || has_dynamic_params(*next)) return std::nullopt;
    const std::uint64_t structure = structure_now(now.effective().basis());
    if (structure == former->structure || !can_stay(now)) return std::nullopt;
    UpdateReport report(detail::Passkey(), UpdateVerdict::topology_changed,
                        "the nodes or edges differ from those of the exec; the instance of the graph before the last "
                        "one has been updated",
                        {}, true);
    if (!former->exec->update(graph, options).updated()) return std::nullopt; // CUDA fixes something else, too
    std::unique_ptr<FormerExec> kept = std::move(now.turns().former);
    ExecState& taken = detail::Access::state(*kept->exec);
    taken.take_handles_of(next);
    taken.turns().has_become_another = true;
    taken.bound_params().forget_all();
    taken.continue_counts_of(now);
    ++taken.turns().counts.switched;
    std::swap(exec, *kept->exec);
    kept->structure = structure;
    taken.turns().former = std::move(kept);
    return report;
}

} // namespace

UpdateReport Exec::update_or_instantiate(const Graph& graph, UpdateOptions options) {
    const detail::NoWaiting no_waiting;
    static_cast<void>(state());
    if (std::optional<UpdateReport> report = switch_to_former(*this, graph, options)) return *std::move(report);
    UpdateReport report = update(graph, options);
    if (report.updated()) {
        ++state_->turns().counts.updated;
    } else if (report.needs_instantiate()) {
        const std::uint64_t before = structure_now(state_->effective().basis());
        const std::uint64_t after = structure_now(detail::Access::state(graph));
        const FormerExec* const former = state_->turns().former.get();
        const bool alternates = former != nullptr && former->structure == after && before != after && can_stay(*state_);
        auto kept = std::make_unique<FormerExec>(FormerExec{before});
        Exec next = graph.instantiate(state_->options());
        next.state_->continue_counts_of(*state_);
        ++next.state_->turns().counts.instantiated;
        state_->turns().former.reset();
        if (alternates) kept->exec.emplace(std::move(*this));
        *this = std::move(next);
        state_->turns().former = std::move(kept);
    }
    return report;
}

} // namespace cudag
