// Captures into the graphs inside conditional and child nodes.
#include "capture.hpp"
#include "child.hpp"
#include "conditional.hpp"

#include <vector>

TEST_CASE("the body of a conditional node is captured", "[capture][to_graph][conditional]") {
    Stream stream;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    const Condition condition = make_condition(graph, 1);
    const Conditional branch = add_conditional(graph, condition, cudaGraphCondTypeIf);
    const cudaGraph_t body = branch.bodies[0];
    REQUIRE_CUDA(begin_into(stream, body));
    set.launch(stream);
    REQUIRE_CUDA(cudaMemsetAsync(data.data() + 1, 0, 4, stream));
    end_into(stream, body);
    REQUIRE(places(body) == Places{{0, 1}});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{1, 0});
}

TEST_CASE("a body is captured into while the graph around it is", "[capture][to_graph][conditional]") {
    Stream stream;
    Stream inner;
    DeviceInts data(3);
    Call before(store, data.data(), 0, 1);
    Call inside(copy_plus, data.data(), data.data() + 1, 1, 10);
    Call after(copy_plus, data.data() + 1, data.data() + 2, 1, 100);
    Capture capture(stream, relaxed);
    before.launch(stream);
    const CaptureInfo info = info_of(stream);
    const Conditional branch =
        add_conditional(info.graph, make_condition(info.graph, 1), cudaGraphCondTypeIf, 1, info.next);
    REQUIRE_CUDA(begin_into(inner, branch.bodies[0]));
    inside.launch(inner);
    end_into(inner, branch.bodies[0]);
    REQUIRE_CUDA(cudaStreamUpdateCaptureDependencies(stream, const_cast<cudaGraphNode_t*>(&branch.node), nullptr, 1,
                                                     cudaStreamSetCaptureDependencies));
    after.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {1, 2}});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{1, 11, 111});
}

TEST_CASE("a body takes captured nodes that only instantiation refuses", "[capture][to_graph][conditional]") {
    Stream stream;
    Graph graph;
    const Conditional branch = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    REQUIRE_CUDA(begin_into(stream, branch.bodies[0]));
    REQUIRE_CUDA(cudaLaunchHostFunc(
        stream, [](void*) {}, nullptr));
    end_into(stream, branch.bodies[0]);
    REQUIRE(nodes_of(branch.bodies[0]).size() == 1);
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&exec, graph, 0));
}

TEST_CASE("the graph inside a child node is captured into", "[capture][to_graph][child]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Graph graph;
    Graph child;
    add_kernel(child, set);
    const cudaGraph_t inside = graph_inside(add_child(graph, child));
    REQUIRE_CUDA(begin_into(stream, inside, nodes_of(inside)));
    plus.launch(stream);
    end_into(stream, inside);
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{11});
}
