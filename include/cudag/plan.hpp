// Plan: how the edges of a graph become CUDA's edges.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// Options for turning the edges of a graph into CUDA's edges. The order of nodes never changes, except by lanes. The
/// edges that express it do: redundant edges and empty nodes cost time in every launch. Equal graphs have equal plans.
/// `Graph::edges()` are the edges as written, whatever the plan.
///
///     cudag::Exec plain = graph.instantiate({.plan = cudag::Plan::as_written()});
///     cudag::Exec narrow = graph.instantiate({.plan = {.lanes = 4}});
///     std::puts(to_string(narrow.plan()).c_str());
///
/// Two kinds of graphs are planned differently:
///   - A captured graph keeps its edges if no call has asked for its nodes or edges before `instantiate`, unless it has
///     many edges or the plan has lanes: reading it usually costs more time than a plan gains.
///   - A graph with graph memory nodes is planned once, by the first plan given to it, and has no lanes, since CUDA
///     removes none of its edges. Edges given to CUDA earlier, for an alloc node with `AllocOptions::after`, stay.
///
/// In a .cu file, nvcc 13.0 crashes ("Segmentation fault", no message) on a conditional expression with `Plan{...}`
/// inside the braces of options, as on any aggregate with a vector. `Plan()` compiles, and so does a variable:
///
///     const bool fast = n > 1000;
///     const cudag::Plan plan = fast ? cudag::Plan{} : cudag::Plan::as_written();
///     cudag::Exec exec = graph.instantiate({.plan = plan});
struct Plan {
    /// Omits redundant edges, those implied by others. Edges of other kinds than full stay, and imply none.
    bool reduce = true;
    /// Replaces each join, and each group of n * m edges from n nodes to m nodes, by the form with the quickest launch:
    /// edges, or an empty kernel (not a node of the Graph). The kernel needs CUDA 12.8.
    bool joins = true;
    /// Puts an empty kernel (not a node of the Graph) before the first kernels of a graph if they are many, and another
    /// one after the last kernels if they are many: the launch call then starts one kernel only. Adds an edge from the
    /// first kernel of a long line to the last, which makes the launch call shorter, too. Not for inner graphs, and not
    /// if the process sees several devices.
    bool ends = true;
    /// Lets kernels with `LaunchConfig::waits_for_previous` start before the kernels directly before them have ended:
    /// CUDA gets programmatic edges to them. The order of memory accesses stays the same: see `wait_for_previous`.
    /// Needs a device of compute capability 9.0 or later.
    bool early = true;
    /// Limits how many nodes run concurrently, by adding edges: the nodes form at most this many lanes, each a
    /// sequence. Useful if many short kernels would otherwise compete. The resulting order is stricter than the one
    /// written. 0: no limit. Each device has as many lanes of its own; joins and event nodes have no lane.
    unsigned lanes = 0;
    /// Durations of the nodes in microseconds, in the order of `Graph::nodes()`, or empty. With durations, cudag
    /// chooses the number of lanes, up to `lanes`, for the earliest end of the graph, from measured costs of kernels.
    /// Nodes of inner graphs get no lanes. `instantiate` throws InstantiateError unless there is one finite,
    /// nonnegative duration for each node.
    std::vector<double> durations = {};
    /// The expected number of launches of an Exec. The forms with the quickest launch make instantiation slower. With
    /// fewer launches than repay this (about 4), joins stay empty nodes unless edges are instantiated as quickly, and
    /// the ends stay as they are. With fewer than 100, a kernel replaces fewer edges from each to each. More than that
    /// changes nothing.
    unsigned launches = 300;

    /// Returns whether nodes may be put on lanes.
    [[nodiscard]] bool wants_lanes() const noexcept { return lanes != 0 || !durations.empty(); }
    /// Returns the plan that gives CUDA the edges as written.
    [[nodiscard]] static Plan as_written() {
        Plan plan; // no designators: nvcc writes them in a way that clang++ warns of
        plan.reduce = plan.joins = plan.ends = plan.early = false;
        return plan;
    }
    friend bool operator==(const Plan&, const Plan&) = default;
};

/// The form of a join. A join orders each of its predecessors before each of its successors.
enum class JoinForm : char {
    edges,  ///< one edge from each to each
    kernel, ///< an empty kernel between them
    node,   ///< an empty node between them: slow, but correct where a kernel is impossible
};

/// Returns "edges", "kernel" or "node".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(JoinForm form) noexcept;

/// One join in a plan. The texts stay valid after the graph is destroyed; the handle does not.
struct PlannedJoin {
    Node node;          ///< the join as written; empty for edges from each to each
    std::string name;   ///< description of the join, and of its graph if that is an inner graph
    std::size_t before; ///< number of predecessors, without redundant edges and other joins
    std::size_t after;  ///< number of successors, likewise
    JoinForm form;
    std::string why; ///< reason of this form
};

/// Returns "empty \"meet\" at a.cpp:12: 10 nodes before 10: kernel, quicker than the 100 edges that it takes without".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const PlannedJoin& join);

/// Estimated time saved by the plan, in microseconds; negative if it costs time. Computed from measured costs of joins
/// and edges, not measured on this graph. It omits the launch time saved by the removal of redundant edges, since that
/// varies too much between graphs: from nothing to 0.17 us per edge.
struct PlanGain {
    double launch_call = 0; ///< CPU time of `Exec::launch`
    double gpu = 0;         ///< GPU time of a launch, from its beginning to its end, for short kernels
    double instantiate = 0; ///< time of CUDA's instantiation, without the planning
};

/// The effect of a plan on the edges of a graph and its inner graphs.
///
///     cudag::PlanReport report = exec.plan();
///     std::printf("%zu edges became %zu\n", report.edges_before(), report.edges_after());
///     for (const cudag::PlannedJoin& join : report.joins())
///         std::puts(to_string(join).c_str());
class CUDAG_EXPORT PlanReport {
  public:
    PlanReport(detail::Passkey, Plan plan, std::size_t edges_before, std::size_t edges_after,
               std::vector<PlannedJoin> joins, std::size_t kernels, std::size_t lanes, std::size_t early_edges,
               std::optional<PlanGain> gain, std::vector<std::string> advice)
        : plan_(std::move(plan)), edges_before_(edges_before), edges_after_(edges_after), joins_(std::move(joins)),
          kernels_(kernels), lanes_(lanes), early_edges_(early_edges), gain_(gain), advice_(std::move(advice)) {}

    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    [[nodiscard]] std::size_t edges_before() const noexcept { return edges_before_; }
    /// Returns the number of edges given to CUDA, including edges from and to empty kernels.
    [[nodiscard]] std::size_t edges_after() const noexcept { return edges_after_; }
    [[nodiscard]] const std::vector<PlannedJoin>& joins() const noexcept { return joins_; }
    /// Returns the number of added empty kernels.
    [[nodiscard]] std::size_t kernels() const noexcept { return kernels_; }
    /// Returns the number of lanes of the graph, for each device; 0 without lanes.
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_; }
    /// Returns the number of edges made programmatic, so that kernels start early.
    [[nodiscard]] std::size_t early_edges() const noexcept { return early_edges_; }
    /// Returns the estimated gain, or nothing for unmeasured kinds of devices, those of another compute capability than
    /// 9.0. The costs were measured on an H200.
    [[nodiscard]] const std::optional<PlanGain>& gain() const noexcept { return gain_; }
    /// Returns advice for a larger gain, one sentence each, or the reason why none is possible.
    [[nodiscard]] const std::vector<std::string>& advice() const noexcept { return advice_; }

    /// Returns the changes, the first joins with their forms and reasons, the gain, and the advice; one per line.
    [[nodiscard]] std::string to_string() const;

  private:
    Plan plan_;
    std::size_t edges_before_;
    std::size_t edges_after_;
    std::vector<PlannedJoin> joins_;
    std::size_t kernels_;
    std::size_t lanes_;
    std::size_t early_edges_;
    std::optional<PlanGain> gain_;
    std::vector<std::string> advice_;
};

[[nodiscard]] inline std::string to_string(const PlanReport& report) {
    return report.to_string();
}

} // namespace cudag
