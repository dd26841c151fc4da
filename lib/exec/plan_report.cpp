// Reports of a plan's changes, as text and as DOT.
#include <cudag/exec.hpp>
#include <cudag/plan.hpp>

#include "cuda/compute_capability.hpp"
#include "cuda/version.hpp"
#include "edges/edge_groups.hpp"
#include "edges/reduction.hpp"
#include "exec_state.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "node/copy.hpp"
#include "node/copy_pieces.hpp"
#include "pictures/dot.hpp"
#include "plan/join_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace cudag {

namespace {

using detail::GraphState;
using detail::JoinReason;
using detail::JoinRecord;

/// Formats a count for texts: "1 edge", "3 edges".
std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string_view why_no_kernel() {
    return detail::cuda_version() < detail::since::kernels_from_images
               ? "an empty kernel needs a driver and runtime for CUDA 12.8"
               : "the empty kernel cannot be loaded on this device";
}

std::string reason_of(const GraphState& graph, const JoinRecord& join) {
    const std::size_t product = std::size_t{join.before} * join.after;
    switch (join.reason) {
    case JoinReason::joins_nothing:
        return join.before == 0 ? "nothing comes before it" : "nothing comes after it";
    case JoinReason::no_more_edges:
        return "without it there are no more edges than with it";
    case JoinReason::few_edges:
        return fmt::format("{} of them are quicker than a kernel between", product);
    case JoinReason::many_edges:
        return fmt::format("quicker than {} without it", counted(product, "edge"));
    case JoinReason::early_edges:
        return "programmatic or launch-completion edges lead to the nodes after it, and CUDA takes no second edge "
               "between two nodes";
    case JoinReason::kept_edges:
        if (has_memory_nodes(graph)) return "CUDA had its edges before an allocation, and removes none then";
        return "edges to events, and to the nodes after them, stay as they were written";
    case JoinReason::no_kernel:
        return fmt::format("{}{}", why_no_kernel(),
                           join.form == JoinForm::edges ? ", and an empty node is slower than so few edges" : "");
    case JoinReason::few_launches:
        return "too few launches are expected to repay the instantiation of a quicker form";
    case JoinReason::long_line:
        return "an edge from the first node of a long line to the last makes the launch call quicker";
    case JoinReason::launch_call:
        return "the launch call starts one node instead of many";
    }
    return "?";
}

PlannedJoin describe(const detail::ExecState& exec, const GraphState& graph, const JoinRecord& join) {
    const bool written = join.node != JoinRecord::no_node;
    std::string name = written                                ? describe_node(graph, join.node)
                       : join.reason == JoinReason::long_line ? "the ends"
                       : join.before == 0                     ? "the beginning"
                       : join.after == 0                      ? "the end"
                                                              : "edges from each to each";
    if (tree_of(graph).parent() != nullptr) name += fmt::format(" in {}", describe_place(graph));
    return {written ? exec.handle_of({&graph, join.node}) : Node(),
            std::move(name),
            join.before,
            join.after,
            join.form,
            reason_of(graph, join)};
}

std::size_t count_edges(const GraphState& graph) {
    std::size_t count = 0;
    for_each_graph(graph, [&](const GraphState& each) { count += edges_of(each).size(); });
    return count;
}

std::optional<detail::JoinGains> gains_of_device() {
    const auto [major, minor] = detail::compute_capability();
    return detail::join_gains(major, minor);
}

PlanGain gain_of(const JoinRecord& join, const detail::JoinGains& gains) {
    if (join.form == JoinForm::node) return {};
    if (join.reason == JoinReason::launch_call)
        return {.launch_call = gains.begin_call * (join.before == 0 ? join.after : 0)};
    if (join.before < 2 || join.after < 2) return {};
    const double around = join.before + join.after;
    if (join.node == JoinRecord::no_node)
        return {.launch_call = gains.block_call * around, .gpu = gains.block_gpu * around};
    return {.launch_call = gains.node_call * around, .gpu = gains.node_gpu * around};
}

/// The figures of a graph under another plan.
struct OtherPlan {
    std::size_t edges = 0;
    std::size_t kernels = 0;
    std::size_t joins = 0; ///< replaced by edges or kernels
    std::size_t early = 0;
    friend bool operator==(const OtherPlan&, const OtherPlan&) = default;

    void add(const GraphState& graph, const detail::PlannedEdges* planned) {
        edges += planned == nullptr ? edges_of(graph).size() : planned->edges.size();
        if (planned == nullptr) return;
        kernels += planned->kernels;
        early += planned->early;
        for (const JoinRecord& join : planned->joins)
            joins += join.form == JoinForm::node ? 0 : 1;
    }
    [[nodiscard]] std::string text() const {
        std::string text = counted(edges, "edge");
        if (early != 0) text += fmt::format(", {} of them programmatic,", early);
        if (kernels != 0) text += fmt::format(" and {}", counted(kernels, "empty kernel"));
        return text;
    }
};

OtherPlan plan_of(const GraphState& root, const Plan& plan) {
    OtherPlan other;
    for_each_graph(root, [&](const GraphState& graph) { other.add(graph, planned_edges(graph, plan).get()); });
    return other;
}

/// Returns the planned edges of `graph`; null if they are as written.
const detail::PlannedEdges* planned_in(const detail::ExecState& exec, const GraphState& graph) {
    const auto found = std::ranges::find(exec.plan().graphs, &graph, &detail::PlannedGraph::graph);
    return found == exec.plan().graphs.end() ? nullptr : found->planned.get();
}

OtherPlan plan_in_force(const detail::ExecState& exec) {
    OtherPlan now;
    for_each_graph(exec.source(), [&](const GraphState& graph) { now.add(graph, planned_in(exec, graph)); });
    return now;
}

std::string switched_off(const Plan& plan, bool early_matters) {
    std::string text;
    const auto add = [&](bool on, std::string_view name) {
        if (!on) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    };
    add(plan.reduce, "reduce");
    add(plan.joins, "joins");
    add(plan.ends, "ends");
    add(plan.early || !early_matters, "early");
    return text;
}

/// Reports the default plan's result for edges that were not planned, or planned with options off.
void advise_plan(const detail::ExecState& exec, std::vector<std::string>& advice) {
    Plan full = exec.options().plan;
    full.reduce = full.joins = full.ends = full.early = true;
    if (exec.plan().was_read && full == exec.options().plan) return;
    const OtherPlan now = plan_in_force(exec), then = plan_of(exec.source(), full);
    if (then == now) return;
    const std::string off = switched_off(exec.options().plan, then.early != now.early);
    if (!exec.plan().was_read)
        advice.push_back(fmt::format("the graph was captured and not read before instantiate(), so its edges are as "
                                     "they were recorded: {} would be {} if it were read first, as by edge_count()",
                                     now.text(), then.text()) +
                         (off.empty() ? "" : fmt::format(", and with {} on", off)));
    else
        advice.push_back(
            fmt::format("the plan has these off: {}; with them, {} would be {}", off, now.text(), then.text()));
}

/// Reports edges and joins that stay because CUDA removes no edges of graphs with memory nodes.
void advise_memory(const detail::ExecState& exec, std::vector<std::string>& advice) {
    std::size_t implied = 0, joins = 0;
    for_each_graph(exec.source(), [&](const GraphState& graph) {
        if (!has_memory_nodes(graph)) return;
        const detail::PlannedEdges* const planned = planned_in(exec, graph);
        const std::vector<detail::EdgeRecord>& edges = planned == nullptr ? edges_of(graph) : planned->edges;
        const std::size_t nodes = records_of(graph).nodes().size() + (planned == nullptr ? 0 : planned->kernels);
        const std::vector<bool> found = detail::find_implied(nodes, edges);
        implied += static_cast<std::size_t>(std::ranges::count(found, true));
        if (planned != nullptr || !records_of(graph).special().joins) return;
        const detail::EdgeGroups incoming(nodes, edges, &detail::EdgeRecord::to);
        const detail::EdgeGroups outgoing(nodes, edges, &detail::EdgeRecord::from);
        for (std::size_t i = 0; i < nodes; ++i)
            joins += records_of(graph).nodes()[i].kind == NodeKind::empty &&
                             incoming.first[i + 1] - incoming.first[i] > 1 &&
                             outgoing.first[i + 1] - outgoing.first[i] > 1
                         ? 1
                         : 0;
    });
    constexpr std::string_view why = "CUDA removes no edges of graphs with memory nodes";
    if (implied != 0)
        advice.push_back(fmt::format("{}: leave {} others imply out of the program", why,
                                     implied == 1 ? "1 edge that" : fmt::format("{} edges that", implied)));
    if (joins != 0)
        advice.push_back(fmt::format("{}: {} an empty node, which is slow; write edges or a kernel instead", why,
                                     joins == 1 ? "1 join stays" : fmt::format("each of {} joins stays", joins)));
}

/// Reports joins that had to stay empty nodes.
void advise_nodes(const detail::ExecState& exec, const std::optional<detail::JoinGains>& gains,
                  std::vector<std::string>& advice) {
    const auto add = [&](JoinReason reason, std::optional<bool> with_memory, std::string_view remedy) {
        std::size_t joins = 0;
        double around = 0;
        for (const detail::PlannedGraph& each : exec.plan().graphs)
            for (const JoinRecord& join : each.planned->joins) {
                if (with_memory && has_memory_nodes(*each.graph) != *with_memory) continue;
                if (join.form != JoinForm::node || join.reason != reason || join.before < 2 || join.after < 2) continue;
                ++joins;
                around += join.before + join.after;
            }
        if (joins == 0) return;
        const std::string cost =
            gains ? fmt::format("about {:.0f} us of a launch call on an H200", std::max(1.0, around * gains->node_call))
                  : "time in every launch";
        advice.push_back(fmt::format("{} {}: {}",
                                     joins == 1 ? "1 join as an empty node costs"
                                                : fmt::format("{} joins as empty nodes cost", joins),
                                     cost, remedy));
    };
    add(JoinReason::kept_edges, false,
        "events, or nodes that wait for events, come after them; let kernels come after the join, and events after "
        "those");
    add(JoinReason::kept_edges, true, "an allocation comes after them in the program; allocate before them");
    add(JoinReason::no_kernel, std::nullopt, fmt::format("{}, which would be quicker", why_no_kernel()));
}

/// Reports copies on the device of a size that CUDA runs slowly in graphs.
void advise_copies(const detail::ExecState& exec, std::vector<std::string>& advice) {
    std::size_t copies = 0;
    std::string first;
    for_each_graph(exec.source(), [&](const GraphState& graph) {
        for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
            const auto* const* copy = std::get_if<const detail::CopyParams*>(&records_of(graph).params(i));
            if (copy == nullptr || !is_slow_in_graphs(**copy)) continue;
            if (copies++ == 0) first = fmt::format("{} of {} bytes", describe_node(graph, i), bytes_of(**copy));
        }
    });
    if (copies == 0) return;
    advice.push_back(fmt::format("{}: CUDA copies this size up to 1.25 times as long in a graph as in a stream (H100); "
                                 "memcpy_in_pieces avoids it",
                                 copies == 1 ? first : fmt::format("{} copies, the first is {}", copies, first)));
}

std::string microseconds(double value) {
    return fmt::format("{:.{}f} us {}", std::abs(value), std::abs(value) < 10 ? 1 : 0,
                       value < 0 ? "longer" : "shorter");
}

std::string text_of(const PlanGain& gain) {
    std::string text;
    const auto add = [&](std::string_view what, double value) {
        if (std::abs(value) >= 0.05)
            text += fmt::format("{}{} about {}", text.empty() ? "" : ", ", what, microseconds(value));
    };
    add("launch call", gain.launch_call);
    add("GPU time", gain.gpu);
    add("instantiation", gain.instantiate);
    return text;
}

} // namespace

std::string_view to_string(JoinForm form) noexcept {
    switch (form) {
    case JoinForm::edges:
        return "edges";
    case JoinForm::kernel:
        return "kernel";
    case JoinForm::node:
        return "node";
    }
    return "?";
}

std::string to_string(const PlannedJoin& join) {
    return fmt::format("{}: {} nodes before {}: {}, {}", join.name, join.before, join.after, to_string(join.form),
                       join.why);
}

PlanReport Exec::plan() const {
    const detail::ExecState& exec = state();
    const auto lock = lock_of(exec.source());
    read_all(exec.source());
    const std::optional<detail::JoinGains> gains = gains_of_device();
    const std::size_t before = count_edges(exec.source());
    std::size_t after = before;
    std::size_t kernels = 0;
    std::size_t lanes = 0;
    std::size_t early = 0;
    PlanGain gain;
    std::vector<PlannedJoin> joins;
    for (const detail::PlannedGraph& each : exec.plan().graphs) {
        after = after - edges_of(*each.graph).size() + each.planned->edges.size();
        kernels += each.planned->kernels;
        early += each.planned->early;
        if (each.graph == &exec.source()) lanes = each.planned->lanes;
        for (const JoinRecord& join : each.planned->joins) {
            joins.push_back(describe(exec, *each.graph, join));
            if (!gains) continue;
            const PlanGain of_join = gain_of(join, *gains);
            gain.launch_call += of_join.launch_call;
            gain.gpu += of_join.gpu;
        }
    }
    if (gains) gain.instantiate = gains->edge_instantiate * (static_cast<double>(before) - static_cast<double>(after));
    std::vector<std::string> advice;
    advise_plan(exec, advice);
    advise_memory(exec, advice);
    advise_nodes(exec, gains, advice);
    if (gains) advise_copies(exec, advice);
    return {detail::Passkey(),
            exec.options().plan,
            before,
            after,
            std::move(joins),
            kernels,
            lanes,
            early,
            gains ? std::optional(gain) : std::nullopt,
            std::move(advice)};
}

std::string Exec::dot() const {
    return dot_of(state().source(), {}, state().plan().graphs);
}

std::string PlanReport::to_string() const {
    std::string text = edges_before_ == edges_after_ && joins_.empty() && lanes_ == 0 && early_edges_ == 0
                           ? fmt::format("{}, as they were written", counted(edges_before_, "edge"))
                           : fmt::format("{} became {}", counted(edges_before_, "edge"), edges_after_);
    if (kernels_ != 0) text += fmt::format(", with {}", counted(kernels_, "empty kernel"));
    if (lanes_ != 0) text += fmt::format(", on {}", counted(lanes_, "lane"));
    if (early_edges_ != 0) text += fmt::format(", {} of them programmatic", early_edges_);
    constexpr std::size_t shown = 20;
    for (std::size_t i = 0; i < std::min(joins_.size(), shown); ++i)
        text += '\n' + cudag::to_string(joins_[i]);
    if (joins_.size() > shown) text += fmt::format("\nand {}", counted(joins_.size() - shown, "more join"));
    const std::string gained = gain_ ? text_of(*gain_) : "";
    if (!gained.empty()) text += fmt::format("\npredicted from costs on an H200: {}", gained);
    for (const std::string& advice : advice_)
        text += '\n' + advice;
    return text;
}

} // namespace cudag
