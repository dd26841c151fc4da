// The plan in force in one exec.
#include "exec_plan.hpp"

#include "exec_nodes.hpp"

#include <cudag/plan.hpp>

namespace cudag::detail {

void complete_source(const ExecState& exec, const GraphState& mine, GraphState& next) {
    static const Plan as_written = Plan::as_written(); // a constant
    if (exec.plan().graphs.empty()) return next.complete_native(&as_written);
    read_all(next);
    Plan plan = exec.options().plan;
    plan.ends = plan.ends && mine.tree().parent() == nullptr;
    next.complete_native(&plan);
}

} // namespace cudag::detail
