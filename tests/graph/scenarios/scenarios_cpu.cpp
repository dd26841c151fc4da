// Whole graphs under many schedules of the CPU runtime: an edge that is lost on the way shows as a wrong result.
#include <cudart_cpu/control.hpp>

#include "scenario.hpp"

namespace {

constexpr Version version{3, false};

/// One node at a time, in an order drawn from a seed; afterwards as many as there are cores again.
class OneAtATime {
  public:
    OneAtATime() { cudart_cpu::set_workers(1); }
    ~OneAtATime() { cudart_cpu::set_workers(0); }
    OneAtATime(const OneAtATime&) = delete;
    OneAtATime& operator=(const OneAtATime&) = delete;
};

/// Checks a DAG, made in one way, in 20 orders.
void check_orders(const Dag& dag, Way way) {
    INFO(dag.name << ", way " << static_cast<int>(way));
    const Scenario scenario(dag, way);
    const std::vector<std::uint32_t> oracle = expected(dag, version);
    const cudag::Graph graph = scenario.make(version);
    const cudag::Graph clone = graph.clone();
    cudag::Exec exec = graph.instantiate();
    cudag::Exec exec_of_clone = clone.instantiate();
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        cudart_cpu::set_seed(seed);
        CHECK(scenario.run(exec) == oracle);
        CHECK(scenario.run(exec_of_clone) == oracle);
    }
}

void check_orders(const Dag& dag) {
    for (const Way way : {Way::built, Way::captured, Way::region, Way::regions})
        check_orders(dag, way);
}

} // namespace

TEST_CASE("every order that the edges allow gives the oracle's result", "[scenario]") {
    const OneAtATime one_at_a_time;
    check_orders(diamond());
    check_orders(fan(8));
    for (std::uint32_t seed = 101; seed <= 110; ++seed)
        check_orders(random_dag(seed, 30));
}

TEST_CASE("nodes that run at the same time give the oracle's result", "[scenario]") {
    check_orders(fan(8));
    for (std::uint32_t seed = 201; seed <= 205; ++seed)
        check_orders(random_dag(seed, 60));
}
