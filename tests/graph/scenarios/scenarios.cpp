// Whole graphs, built and captured, against plain C++: fresh, updated node by node and as wholes, cloned, and adopted.
#include <cstdint>
#include <optional>

#include "random_seeds.hpp"
#include "scenario.hpp"

namespace {

constexpr Version draft{1, true};
constexpr Version final_version{2, false};

bool contains(const Order& order, const Order& part) {
    for (std::size_t i = 0; i < order.size(); ++i)
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            if (part[i][earlier] && !order[i][earlier]) return false;
    return true;
}

/// Calls `check(dag, scenario)` for every DAG, in every way in which it can be made.
template <class Check>
void for_each(const std::vector<Dag>& dags, Check& check) {
    for (const Dag& dag : dags) {
        INFO(dag.name);
        for (const Way way : {Way::built, Way::captured, Way::region, Way::regions}) {
            if (way == Way::captured && !is_recordable(dag)) continue;
            INFO("way " << static_cast<int>(way));
            check(dag, Scenario(dag, way));
        }
    }
}

/// Calls `check(dag, scenario)` for every DAG that can be cloned.
template <class Check>
void for_each_plain_dag(Check&& check) {
    std::vector<Dag> dags{diamond(), line(200), fan(2), fan(Inputs::capacity)};
    for (std::uint32_t seed = 1; seed <= seed_count(); ++seed)
        dags.push_back(random_dag(seed, 40));
    dags.push_back(nested(random_dag(seed_count() + 1, 40), false));
    for_each(dags, check);
}

/// Calls `check(dag, scenario)` for every DAG there is.
template <class Check>
void for_each_dag(Check&& check) {
    for_each_plain_dag(check);
    std::vector<Dag> dags{nested(diamond(), true), nested(line(20), true)};
    for (std::uint32_t seed = 1; seed <= seed_count() / 2; ++seed)
        dags.push_back(nested(random_dag(seed, 40), true));
    for_each(dags, check);
}

} // namespace

TEST_CASE("a graph has the order and the names of its DAG, however it is made", "[scenario]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        const cudag::Graph graph = scenario.make(final_version);
        const Order order = scenario.order(graph);
        if (scenario.is_exact()) CHECK(order == order_of(dag));
        CHECK(contains(order, order_of(dag)));
        for (std::size_t i = 0; i < dag.steps.size(); ++i)
            if (dag.steps[i].action != Action::join) CHECK(graph.find(step_label(i)).size() == 1);
    });
}

TEST_CASE("a fresh graph computes what the oracle says, launch after launch", "[scenario]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        cudag::Exec exec = scenario.make(final_version).instantiate();
        for (int launch = 0; launch < 3; ++launch)
            CHECK(scenario.run(exec) == expected(dag, final_version));
        CHECK(exec.replays() == 3);
    });
}

TEST_CASE("an exec updated node by node computes as if built so", "[scenario]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        const cudag::Graph graph = scenario.make(draft);
        cudag::Exec exec = graph.instantiate();
        CHECK(scenario.run(exec) == expected(dag, draft));
        scenario.update(exec, graph, final_version);
        CHECK(scenario.run(exec) == expected(dag, final_version));
        scenario.update(exec, graph, draft);
        CHECK(scenario.run(exec) == expected(dag, draft));
    });
}

TEST_CASE("an exec updated before its first launch computes as if built so", "[scenario]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        const cudag::Graph graph = scenario.make(draft);
        cudag::Exec exec = graph.instantiate();
        scenario.update(exec, graph, final_version);
        CHECK(scenario.run(exec) == expected(dag, final_version));
    });
}

TEST_CASE("an exec that applies its updated graph computes as if built so", "[scenario][apply]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        cudag::Graph graph = scenario.make(draft);
        cudag::Exec exec = graph.instantiate();
        CHECK(scenario.run(exec) == expected(dag, draft));
        for (const Version& version : {final_version, draft, final_version}) {
            scenario.update(graph, graph, version);
            exec.apply(graph);
            CHECK(scenario.run(exec) == expected(dag, version));
        }
    });
}

TEST_CASE("an exec updated as a whole computes as if built so", "[scenario][update]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        const cudag::Graph graph = scenario.make(draft);
        cudag::Exec exec = graph.instantiate();
        for (const Version& version : {final_version, draft, final_version}) {
            const cudag::UpdateReport report = exec.update(scenario.make(version));
            INFO(report.to_string());
            REQUIRE(report.updated());
            CHECK(scenario.run(exec) == expected(dag, version));
        }
        scenario.update(exec, graph, draft);
        CHECK(scenario.run(exec) == expected(dag, draft));
    });
}

TEST_CASE("an exec made from an updated graph computes what the graph says", "[scenario][apply]") {
    for_each_dag([](const Dag& dag, const Scenario& scenario) {
        cudag::Graph graph = scenario.make(draft);
        scenario.update(graph, graph, final_version);
        cudag::Exec exec = graph.instantiate();
        CHECK(scenario.run(exec) == expected(dag, final_version));
    });
}

TEST_CASE("a clone of an updated graph computes what the graph says", "[scenario][apply]") {
    for_each_plain_dag([](const Dag& dag, const Scenario& scenario) {
        cudag::Graph graph = scenario.make(draft);
        scenario.update(graph, graph, final_version);
        cudag::Exec exec = graph.clone().instantiate();
        CHECK(scenario.run(exec) == expected(dag, final_version));
    });
}

TEST_CASE("a clone computes the same when the original is gone, and is updated", "[scenario][clone]") {
    for_each_plain_dag([](const Dag& dag, const Scenario& scenario) {
        std::optional<cudag::Graph> graph = scenario.make(draft);
        const cudag::Graph clone = graph->clone();
        graph.reset();
        cudag::Exec exec = clone.instantiate();
        CHECK(scenario.run(exec) == expected(dag, draft));
        scenario.update(exec, clone, final_version);
        CHECK(scenario.run(exec) == expected(dag, final_version));
    });
}

TEST_CASE("an adopted copy of the native graph computes the same, and is updated", "[scenario][adopt]") {
    for_each_plain_dag([](const Dag& dag, const Scenario& scenario) {
        std::optional<cudag::Graph> graph = scenario.make(draft);
        static_cast<void>(graph->instantiate({.plan = cudag::Plan::as_written()})); // so that these edges are adopted
        cudaGraph_t copy = nullptr;
        cudag::check(cudaGraphClone(&copy, graph->native()));
        const cudag::Graph adopted = cudag::Graph::adopt(copy);
        CHECK(adopted.edge_count() == graph->edge_count());
        graph.reset();
        cudag::Exec exec = adopted.instantiate();
        CHECK(scenario.run(exec) == expected(dag, draft));
        scenario.update(exec, adopted, final_version);
        CHECK(scenario.run(exec) == expected(dag, final_version));
    });
}
