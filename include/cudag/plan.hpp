// Plan: which edges CUDA gets for those that a graph is written with.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// How the edges of a graph become those that CUDA sees. What must have ended before what begins stays the same; what
/// CUDA takes for it does not: an edge that others imply, and an empty node, cost time in every launch. Equal graphs
/// have equal plans. `Graph::edges()` are those that were written, whatever the plan is.
///
/// A captured graph that nobody has asked anything of keeps its edges, unless it has many of them or lanes are asked
/// for: to read it takes longer than it gains as a rule.
///
/// CUDA removes no edges of a graph with memory nodes. It is planned once, by the plan that it is given first, and has
/// no lanes; the edges that CUDA needs before an allocation stay, but for those that others imply by then.
///
/// In a .cu file, nvcc 13.0 crashes ("Segmentation fault", no message) on a conditional expression with `Plan{...}`
/// inside the braces of options, as on any aggregate with a vector. `Plan()` compiles, and so does a variable:
///
///     const cudag::Plan plan = n < 1000 ? cudag::Plan{} : cudag::Plan::as_written();
///     cudag::Exec exec = graph.instantiate({.plan = plan});
struct Plan {
    /// Leaves out edges that others imply. Edges that are not full stay, and imply none.
    bool reduce = true;
    /// Makes of each join, and of edges from each of some nodes to each of some others, what launches quickest: edges,
    /// or an empty kernel between them, which is no node of the Graph. Needs CUDA 12.8 for the kernel.
    bool joins = true;
    /// Lets a graph that begins or ends with many kernels begin and end with one empty kernel instead, which is no node
    /// of the Graph either: its launch call starts one kernel then. Not for graphs inside others, and not where the
    /// process sees several devices.
    bool ends = true;
    /// Lays the nodes on so many lanes, in each of which one comes after the other, where more could run at once: many
    /// at once cost more than short kernels gain from it. So the order has more in it than was written. 0: as many as
    /// the edges allow. Each device has lanes of its own, as many; joins and event nodes have no lane.
    unsigned lanes = 0;
    /// How many microseconds each node takes, in the order of `Graph::nodes()`, or nothing: the graph is laid on as
    /// many lanes, up to `lanes`, as let it end soonest by what kernels were seen to cost. Graphs inside it are not.
    std::vector<double> durations = {};

    /// Whether nodes may be laid on lanes.
    [[nodiscard]] bool wants_lanes() const noexcept { return lanes != 0 || !durations.empty(); }
    /// CUDA gets the edges as they were written.
    [[nodiscard]] static Plan as_written() { return {.reduce = false, .joins = false, .ends = false}; }
    friend bool operator==(const Plan&, const Plan&) = default;
};

/// What a join becomes, which is to say that some nodes all come before some others.
enum class JoinForm : char {
    edges,  ///< one from each to each
    kernel, ///< an empty kernel between them
    node,   ///< an empty node between them: slow, but right where no kernel can be
};

/// "edges", "kernel", "node".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(JoinForm form) noexcept;

/// A join in a plan. The text stays valid when the graph is gone; the handle does not.
struct PlannedJoin {
    Node node;          ///< the join that was written; empty where edges from each to each were
    std::string name;   ///< what it is called, and in which graph it is if that is inside another one
    std::size_t before; ///< how many nodes come before it, once implied edges and other joins are gone
    std::size_t after;
    JoinForm form;
    std::string why; ///< this form
};

/// "empty \"meet\" at a.cpp:12: 10 nodes before 10: kernel, quicker than the 100 edges that it takes without"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const PlannedJoin& join);

/// About how many microseconds less something takes by a plan, or more where it is negative: told from what joins and
/// edges were measured to cost, not measured. What launches gain where implied edges are gone is not in it: that
/// differs too much between graphs, from nothing to 0.17 for each of them.
struct PlanGain {
    double launch_call = 0; ///< of the CPU in `Exec::launch`
    double gpu = 0;         ///< of a launch, from its begin to its end, where kernels are short
    double instantiate = 0; ///< of CUDA, without what planning takes
};

/// What a plan has made of the edges of a graph, and of those inside it.
class CUDAG_EXPORT PlanReport {
  public:
    /// For `Exec` to make.
    PlanReport(Plan plan, std::size_t edges_before, std::size_t edges_after, std::vector<PlannedJoin> joins,
               std::size_t kernels, std::size_t lanes, std::optional<PlanGain> gain, std::vector<std::string> advice)
        : plan_(std::move(plan)), edges_before_(edges_before), edges_after_(edges_after), joins_(std::move(joins)),
          kernels_(kernels), lanes_(lanes), gain_(gain), advice_(std::move(advice)) {}

    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    [[nodiscard]] std::size_t edges_before() const noexcept { return edges_before_; }
    /// With those from and to empty kernels.
    [[nodiscard]] std::size_t edges_after() const noexcept { return edges_after_; }
    [[nodiscard]] const std::vector<PlannedJoin>& joins() const noexcept { return joins_; }
    /// How many empty kernels were added.
    [[nodiscard]] std::size_t kernels() const noexcept { return kernels_; }
    /// On how many lanes the nodes of the graph are, those of each device; 0 if they were not laid on any.
    [[nodiscard]] std::size_t lanes() const noexcept { return lanes_; }
    /// Nothing for devices of kinds that were not measured: such as have another compute capability than 9.0, where an
    /// H200 was.
    [[nodiscard]] const std::optional<PlanGain>& gain() const noexcept { return gain_; }
    /// What could be written to gain more, a sentence each, or why that cannot be helped.
    [[nodiscard]] const std::vector<std::string>& advice() const noexcept { return advice_; }

    /// What was done, the first joins with what they became and why, the gain, and the advice; a line each.
    [[nodiscard]] std::string to_string() const;

  private:
    Plan plan_;
    std::size_t edges_before_;
    std::size_t edges_after_;
    std::vector<PlannedJoin> joins_;
    std::size_t kernels_;
    std::size_t lanes_;
    std::optional<PlanGain> gain_;
    std::vector<std::string> advice_;
};

[[nodiscard]] inline std::string to_string(const PlanReport& report) {
    return report.to_string();
}

} // namespace cudag
