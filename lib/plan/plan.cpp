// The plan: the edges passed to CUDA in place of the written ones.
#include "plan.hpp"

#include "edges/reduction.hpp"
#include "ends.hpp"
#include "lanes.hpp"

#include <utility>

namespace cudag::detail {

namespace {

/// The lanes of `plan`, for a graph not yet on lanes.
std::optional<Lanes> lanes_of(const PlanInput& input, const std::vector<EdgeRecord>& edges, const Plan& plan) {
    if (!plan.wants_lanes()) return std::nullopt;
    return plan_lanes({input.nodes, edges, input.is_off_lanes, input.devices, plan.durations, plan.lanes, input.lanes});
}

} // namespace

std::optional<PlannedEdges> plan_edges(const PlanInput& input, const Plan& plan) {
    const auto reduce = [&](const std::vector<EdgeRecord>& edges) {
        return plan.reduce ? reduced(input.nodes, edges, input.keeps_all) : edges;
    };
    JoinRules rules = input.rules;
    rules.repays = plan.launches >= rules.costs.repaid_by;
    rules.costs = rules.costs.for_launches(plan.launches);
    PlannedEdges planned{input.has_fan_in ? reduce(input.edges) : input.edges};
    if (const std::optional<Lanes> lanes = lanes_of(input, planned.edges, plan)) {
        planned.edges.insert(planned.edges.end(), lanes->edges.begin(), lanes->edges.end());
        planned.edges = reduce(planned.edges); // lanes may imply written edges
        planned.lanes = lanes->count;
    }
    if (plan.joins && (input.has_fan_in || planned.lanes != 0 || !input.is_join.empty())) {
        const std::size_t lanes = planned.lanes;
        planned = plan_joins(input.nodes, std::move(planned.edges), input.is_join, input.keeps_all, rules);
        planned.lanes = lanes;
    }
    if (plan.ends && rules.kernels && rules.repays && !input.is_kernel.empty()) plan_ends(input.is_kernel, planned);
    if (plan.early && !input.early.roles.empty()) plan_early(input.early, input.keeps_all, planned);
    if (plan.ends && !input.is_kernel.empty()) plan_long_line(input.is_kernel, planned);
    if (planned.joins.empty() && planned.lanes == 0 && planned.early == 0 && planned.edges.size() == input.edges.size())
        return std::nullopt;
    return planned;
}

} // namespace cudag::detail
