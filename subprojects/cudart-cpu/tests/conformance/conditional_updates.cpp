// Conditional nodes in executable graphs: what updates may change.
#include "conditional.hpp"
#include "resource.hpp"

namespace {

/// An if node that adds `value` to the first int.
struct Branch {
    Branch(int* data, int value, unsigned initial = 1, cudaGraphConditionalNodeType type = cudaGraphCondTypeIf)
        : addition(add, data, 0, value), condition(make_condition(graph, initial)),
          conditional(add_conditional(graph, condition, type)), kernel(add_kernel(conditional.bodies[0], addition)) {}

    Graph graph;
    Call<int*, int, int> addition;
    Condition condition;
    Conditional conditional;
    cudaGraphNode_t kernel;
};

int run(const Exec& exec, DeviceInts& data) {
    Stream stream;
    data.write({0});
    exec.run(stream);
    return data.read()[0];
}

struct Updated {
    cudaError_t code;
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t node;
};

Updated update(const Exec& exec, cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t code = cudaGraphExecUpdate(exec, graph, &info);
    static_cast<void>(cudaGetLastError());
    return {code, info.result, info.errorNode};
}

} // namespace

TEST_CASE("a node in a body is updated and switched off in the executable graph", "[exec][conditional]") {
    DeviceInts data(1);
    Branch branch(data.data(), 1);
    const Exec exec(branch.graph);
    Call more(add, data.data(), 0, 10);
    const cudaKernelNodeParams params = more.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, branch.kernel, &params));
    REQUIRE(run(exec, data) == 10);
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, branch.kernel, 0));
    REQUIRE(run(exec, data) == 0);
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, branch.kernel, 1));
    REQUIRE(run(exec, data) == 10);
}

TEST_CASE("a whole update reaches into bodies and replaces defaults", "[exec][conditional]") {
    DeviceInts data(1);
    Branch branch(data.data(), 1);
    const Exec exec(branch.graph);
    Branch other(data.data(), 7);
    REQUIRE_CUDA(update(exec, other.graph).code);
    REQUIRE(run(exec, data) == 7);
    Branch off(data.data(), 7, 0);
    REQUIRE_CUDA(update(exec, off.graph).code);
    REQUIRE(run(exec, data) == 0);
}

TEST_CASE("a handle means the same condition of each graph that was made alike", "[exec][conditional]") {
    DeviceInts data(1);
    const auto loop = [&](Graph& graph) {
        const Condition again = make_condition(graph, 1);
        const Conditional node = add_conditional(graph, again, cudaGraphCondTypeWhile);
        Call down(count_down, data.data(), again);
        add_kernel(node.bodies[0], down);
    };
    Graph graph;
    Graph other;
    loop(graph);
    loop(other);
    const Exec exec(graph);
    REQUIRE_CUDA(update(exec, other).code);
    Stream stream;
    data.write({5});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{0});
}

TEST_CASE("an update cannot change what a conditional node is", "[exec][conditional]") {
    DeviceInts data(1);
    Branch branch(data.data(), 1);
    const Exec exec(branch.graph);
    Branch loop(data.data(), 1, 0, cudaGraphCondTypeWhile);
    const Updated answer = update(exec, loop.graph);
    REQUIRE(answer.code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(answer.result == cudaGraphExecUpdateErrorNotSupported);
    REQUIRE(answer.node == loop.conditional.node);
    REQUIRE(run(exec, data) == 1);
}

TEST_CASE("an update cannot change which condition a node has", "[exec][conditional]") {
    DeviceInts data(1);
    Graph graph;
    const auto two = [&](Graph& made, bool swapped) {
        const Condition first = make_condition(made, 1);
        const Condition second = make_condition(made, 1);
        const cudaGraphNode_t node = add_conditional(made, swapped ? second : first, cudaGraphCondTypeIf).node;
        add_conditional(made, swapped ? first : second, cudaGraphCondTypeIf, 1, {node});
    };
    two(graph, false);
    const Exec exec(graph);
    Graph same;
    two(same, false);
    REQUIRE_CUDA(update(exec, same).code);
    Graph swapped;
    two(swapped, true);
    const Updated answer = update(exec, swapped);
    REQUIRE(answer.code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(answer.result == cudaGraphExecUpdateErrorNotSupported);
}

TEST_CASE("an update finds a node more in a body", "[exec][conditional]") {
    DeviceInts data(1);
    Branch branch(data.data(), 1);
    const Exec exec(branch.graph);
    add_kernel(branch.conditional.bodies[0], branch.addition);
    const Updated answer = update(exec, branch.graph);
    REQUIRE(answer.code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(answer.result == cudaGraphExecUpdateErrorTopologyChanged);
    REQUIRE(answer.node == nullptr);
    REQUIRE(run(exec, data) == 1);
}

TEST_CASE("an executable graph keeps what a body refers to", "[exec][conditional]") {
    Resource resource;
    DeviceInts data(1);
    Graph graph;
    const Conditional branch = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    give(branch.bodies[0], resource);
    Exec exec(graph);
    graph.destroy();
    REQUIRE(resource.destroyed == 0);
    exec.destroy();
    REQUIRE(resource.destroyed == 1);
}
