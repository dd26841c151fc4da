// TunedPlan: the choice of `tune`, as text for later processes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/plan.hpp>
#include <cudag/tune_report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cudag {

class Graph;

namespace detail {

/// The structure of a graph, as far as a plan depends on it, with the graphs inside; equal in all processes.
struct TunedStructure {
    std::size_t nodes = 0;
    std::size_t edges = 0;
    std::uint64_t hash = 0; ///< of the kinds of nodes, and of the edges
    friend bool operator==(const TunedStructure&, const TunedStructure&) = default;
};

} // namespace detail

/// The plan chosen by `tune` for one structure of graphs. Its text lets a later process use it without measuring:
///
///     std::string text = cudag::tune(graph, stream).plan.to_string(); // to be written to a file
///
///     // in the next process, with the file's text:
///     cudag::TunedPlan saved = cudag::TunedPlan::parse(text);
///     cudag::Exec exec = graph.instantiate({.plan = saved.plan_for(graph)});
///
/// The plan is correct on every device, and best on the kind of device on which it was measured: keep one text for
/// each.
class CUDAG_EXPORT TunedPlan {
  public:
    TunedPlan(detail::Passkey, Plan plan, TuneGoal goal, detail::TunedStructure structure)
        : plan_(std::move(plan)), goal_(goal), structure_(structure) {}

    /// Reads a text of `to_string`. Throws Error for any other text, with the wrong line.
    [[nodiscard]] static TunedPlan parse(std::string_view text);

    [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
    /// Returns the time that the plan was to minimise.
    [[nodiscard]] TuneGoal goal() const noexcept { return goal_; }

    /// Returns the plan if `graph` has the structure of the tuned graph: the same kinds of nodes, in the same order,
    /// with the same edges, also inside. Kernels, sizes and addresses may differ. Reads a captured graph. Throws
    /// GraphError for another structure, a moved-from graph or an inner graph.
    [[nodiscard]] Plan plan_for(const Graph& graph) const;

    /// Returns the text for `parse`: a version, the goal, the plan with its lanes, and the structure of the graph.
    [[nodiscard]] std::string to_string() const;

    friend bool operator==(const TunedPlan&, const TunedPlan&) = default;

  private:
    Plan plan_;
    TuneGoal goal_;
    detail::TunedStructure structure_;
};

[[nodiscard]] inline std::string to_string(const TunedPlan& plan) {
    return plan.to_string();
}

} // namespace cudag
