// Conditional nodes: which body runs, and how often.
#include "conditional.hpp"

namespace {

/// Sets data[0] and launches; gives what was there afterwards.
std::vector<int> run_with(const Exec& exec, const DeviceInts& data, const std::vector<int>& values) {
    Stream stream;
    data.read();
    REQUIRE_CUDA(cudaMemcpy(data.data(), values.data(), data.size_bytes(), cudaMemcpyHostToDevice));
    exec.run(stream);
    return data.read();
}

} // namespace

TEST_CASE("the body of an if node runs if the value is not zero", "[graph][conditional]") {
    DeviceInts data(1);
    Call count(add, data.data(), 0, 1);
    for (const unsigned value : {0U, 1U, 2U, ~0U}) {
        Graph graph;
        const Conditional branch = add_conditional(graph, make_condition(graph, value), cudaGraphCondTypeIf);
        add_kernel(branch.bodies[0], count);
        REQUIRE(run_with(Exec(graph), data, {10}) == std::vector{value == 0 ? 10 : 11});
    }
}

TEST_CASE("the second body of an if node runs if the value is zero", "[graph][conditional]") {
    DeviceInts data(1);
    Call then(add, data.data(), 0, 1);
    Call otherwise(add, data.data(), 0, 100);
    for (const unsigned value : {0U, 1U}) {
        Graph graph;
        const Conditional branch = add_conditional(graph, make_condition(graph, value), cudaGraphCondTypeIf, 2);
        add_kernel(branch.bodies[0], then);
        add_kernel(branch.bodies[1], otherwise);
        REQUIRE(run_with(Exec(graph), data, {0}) == std::vector{value == 0 ? 100 : 1});
    }
}

TEST_CASE("a switch node runs the body with the value's number, or none", "[graph][conditional]") {
    DeviceInts data(1);
    for (const unsigned value : {0U, 1U, 2U, 3U, ~0U}) {
        Graph graph;
        const Conditional choice = add_conditional(graph, make_condition(graph, value), cudaGraphCondTypeSwitch, 3);
        for (int i = 0; i < 3; ++i) {
            Call set(store, data.data(), 0, i);
            add_kernel(choice.bodies[static_cast<std::size_t>(i)], set);
        }
        REQUIRE(run_with(Exec(graph), data, {-1}) == std::vector{value < 3 ? static_cast<int>(value) : -1});
    }
}

TEST_CASE("a while node runs its body until a kernel sets the value to zero", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(2);
    const Condition again = make_condition(graph, 1);
    const Conditional loop = add_conditional(graph, again, cudaGraphCondTypeWhile);
    Call count(add, data.data(), 1, 1);
    Call down(count_down, data.data(), again);
    add_kernel(loop.bodies[0], down, {add_kernel(loop.bodies[0], count)});
    const Exec exec(graph);
    REQUIRE(run_with(exec, data, {5, 0}) == std::vector{0, 5});
    // Each launch begins with the default.
    REQUIRE(run_with(exec, data, {3, 0}) == std::vector{0, 3});
}

TEST_CASE("a while node whose value is zero never runs its body", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    const Conditional loop = add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeWhile);
    Call count(add, data.data(), 0, 1);
    add_kernel(loop.bodies[0], count);
    REQUIRE(run_with(Exec(graph), data, {0}) == std::vector{0});
}

TEST_CASE("a kernel before a conditional node sets the value", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    const Condition condition = make_condition(graph, 0, 0);
    Call set(set_condition, condition, 1U);
    Call count(add, data.data(), 0, 1);
    const Conditional branch = add_conditional(graph, condition, cudaGraphCondTypeIf, 1, {add_kernel(graph, set)});
    add_kernel(branch.bodies[0], count);
    const Exec exec(graph);
    REQUIRE(run_with(exec, data, {0}) == std::vector{1});
    REQUIRE(run_with(exec, data, {0}) == std::vector{1});
}

TEST_CASE("what comes after a conditional node runs after its bodies", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(2);
    const Condition again = make_condition(graph, 1);
    const Conditional loop = add_conditional(graph, again, cudaGraphCondTypeWhile);
    Call down(count_down, data.data(), again);
    add_kernel(loop.bodies[0], down);
    Call copy(copy_plus, data.data(), data.data() + 1, 1, 100);
    add_kernel(graph, copy, {loop.node});
    REQUIRE(run_with(Exec(graph), data, {20, 0}) == std::vector{0, 100});
}

TEST_CASE("empty bodies do nothing", "[graph][conditional]") {
    Stream stream;
    Graph graph;
    add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeWhile);
    add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeSwitch, 2);
    Exec(graph).run(stream);
}

TEST_CASE("memset, memcpy, empty and child graph nodes run in a body", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(3);
    PinnedInts source(1);
    source[0] = 4;
    Graph child;
    Call count(add, data.data(), 2, 1);
    add_kernel(child, count);
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    const cudaGraphNode_t set = add_memset(body, set_ints(data.data(), 1, 9));
    const cudaGraphNode_t copy =
        add_memcpy(body, data.data() + 1, source.data(), sizeof(int), cudaMemcpyHostToDevice, {add_empty(body, {set})});
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddChildGraphNode(&node, body, &copy, 1, child));
    REQUIRE(run_with(Exec(graph), data, {0, 0, 0}) == std::vector{9, 4, 1});
}

TEST_CASE("conditional nodes run in bodies", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    const cudaGraph_t outer = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    const Conditional choice = add_conditional(outer, make_condition(outer, 1), cudaGraphCondTypeSwitch, 2);
    Call never(add, data.data(), 0, 100);
    Call count(add, data.data(), 0, 1);
    add_kernel(choice.bodies[0], never);
    add_kernel(choice.bodies[1], count);
    REQUIRE(run_with(Exec(graph), data, {0}) == std::vector{1});
}

TEST_CASE("the value of an inner node is not reset when the outer body runs again", "[graph][conditional]") {
    for (const bool resets : {false, true}) {
        for (const bool of_body : {false, true}) {
            Graph graph;
            DeviceInts data(3); // outer rounds left, inner rounds left, inner rounds
            const Condition outer = make_condition(graph, 1);
            const Conditional rounds = add_conditional(graph, outer, cudaGraphCondTypeWhile);
            const cudaGraph_t body = rounds.bodies[0];
            const Condition inner = make_condition(of_body ? body : static_cast<cudaGraph_t>(graph), 1);
            Nodes before{add_memset(body, set_ints(data.data() + 1, 1, 3))};
            Call reset(set_condition, inner, 1U);
            if (resets) before.push_back(add_kernel(body, reset));
            const Conditional loop = add_conditional(body, inner, cudaGraphCondTypeWhile, 1, before);
            Call count(add, data.data(), 2, 1);
            Call inner_down(count_down, data.data() + 1, inner);
            add_kernel(loop.bodies[0], inner_down, {add_kernel(loop.bodies[0], count)});
            Call outer_down(count_down, data.data(), outer);
            add_kernel(body, outer_down, {loop.node});
            REQUIRE(run_with(Exec(graph), data, {4, 0, 0})[2] == (resets ? 12 : 3));
        }
    }
}

TEST_CASE("nodes may be added to a body until the graph is instantiated", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    Call count(add, data.data(), 0, 1);
    const cudaGraphNode_t first = add_kernel(body, count);
    Exec before(graph);
    add_kernel(body, count, {first});
    REQUIRE(run_with(before, data, {0}) == std::vector{1});
    before.destroy();
    REQUIRE(run_with(Exec(graph), data, {0}) == std::vector{2});
}

TEST_CASE("without a default the value stays from launch to launch", "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    const Condition condition = make_condition(graph, 0, 0);
    Call set(set_condition, condition, 1U);
    Call count(add, data.data(), 0, 1);
    const cudaGraphNode_t setter = add_kernel(graph, set);
    const Conditional branch = add_conditional(graph, condition, cudaGraphCondTypeIf, 1, {setter});
    add_kernel(branch.bodies[0], count);
    const Exec exec(graph);
    REQUIRE(run_with(exec, data, {0}) == std::vector{1});
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, setter, 0));
    REQUIRE(run_with(exec, data, {0}) == std::vector{1});
}
