// Child graph nodes: what the node owns, how it runs, and what may be done with the graph inside.
#include "child.hpp"
#include "resource.hpp"

#include <memory>
#include <vector>

TEST_CASE("a child graph node runs a clone of the graph that it was given", "[child]") {
    Stream stream;
    DeviceInts data(2);
    Call inside(store, data.data(), 0, 5);
    Graph graph;
    cudaGraphNode_t node = nullptr;
    {
        Graph child;
        add_kernel(child, inside);
        node = add_child(graph, child);
        Call late(store, data.data(), 1, 6);
        add_kernel(child, late);
    }
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeGraph);
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{5, poison});
}

TEST_CASE("a child graph runs after the node's dependencies and before its dependents", "[child]") {
    Stream stream;
    DeviceInts data(3);
    data.write({0, 0, 0});
    Call before(store, data.data(), 0, 1);
    Call first(copy_plus, data.data(), data.data() + 1, 1, 1);
    Call second(copy_plus, data.data() + 1, data.data() + 2, 1, 1);
    Call after(copy_plus, data.data() + 2, data.data(), 1, 1);
    Graph child;
    add_kernel(child, second, {add_kernel(child, first)});
    Graph graph;
    const cudaGraphNode_t node = add_child(graph, child, {add_kernel(graph, before)});
    add_kernel(graph, after, {node});
    const Exec exec(graph);
    for (int i = 0; i < 5; ++i) {
        exec.run(stream);
        REQUIRE(data.read() == std::vector{4, 2, 3});
    }
}

TEST_CASE("all of a child graph's sinks come before the node's dependents", "[child]") {
    Stream stream;
    DeviceInts data(3);
    Call one(store, data.data(), 0, 1);
    Call two(store, data.data(), 1, 2);
    Call copy(copy_plus, data.data(), data.data() + 2, 1, 0);
    Call add_two(copy_plus, data.data() + 1, data.data() + 2, 1, 0);
    Graph child;
    add_kernel(child, one);
    add_kernel(child, two);
    Graph graph;
    const cudaGraphNode_t node = add_child(graph, child);
    SECTION("the first") {
        add_kernel(graph, copy, {node});
        Exec(graph).run(stream);
        REQUIRE(data.read() == std::vector{1, 2, 1});
    }
    SECTION("the second") {
        add_kernel(graph, add_two, {node});
        Exec(graph).run(stream);
        REQUIRE(data.read() == std::vector{1, 2, 2});
    }
}

TEST_CASE("an empty child graph orders what is around it", "[child]") {
    Stream stream;
    DeviceInts data(2);
    Call first(store, data.data(), 0, 1);
    Call second(copy_plus, data.data(), data.data() + 1, 1, 1);
    Graph child;
    Graph graph;
    add_kernel(graph, second, {add_child(graph, child, {add_kernel(graph, first)})});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{1, 2});
}

TEST_CASE("a graph may hold the same child several times, and children hold children", "[child]") {
    Stream stream;
    DeviceInts data(1);
    data.write({0});
    Call call(add, data.data(), 0, 1);
    Graph inner;
    add_kernel(inner, call);
    Graph middle;
    add_child(middle, inner, {add_child(middle, inner)});
    Graph graph;
    add_child(graph, middle, {add_child(graph, middle)});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{4});
}

TEST_CASE("the graph inside a node is live: it is not the one that was given, and what is added to it runs",
          "[child]") {
    Stream stream;
    DeviceInts data(2);
    Call call(store, data.data(), 0, 5);
    Call more(store, data.data(), 1, 6);
    Graph child;
    const cudaGraphNode_t original = add_kernel(child, call);
    Graph graph;
    const cudaGraphNode_t node = add_child(graph, child);
    const cudaGraph_t inside = graph_inside(node);
    REQUIRE(inside != child);
    REQUIRE(graph_inside(node) == inside);
    const Nodes nodes = nodes_of(inside);
    REQUIRE(nodes.size() == 1);
    REQUIRE(nodes[0] != original);
    cudaGraphNode_t found = nullptr;
    REQUIRE_CUDA(cudaGraphNodeFindInClone(&found, original, inside));
    REQUIRE(found == nodes[0]);

    call.argument<2>() = 7;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(nodes[0], &params));
    add_kernel(inside, more, nodes);
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{7, 6});
}

TEST_CASE("a graph counts a child as one node", "[child]") {
    Graph child;
    add_empty(child, {add_empty(child)});
    Graph graph;
    const cudaGraphNode_t first = add_empty(graph);
    const cudaGraphNode_t node = add_child(graph, child, {first});
    REQUIRE(nodes_of(graph) == Nodes{first, node});
    REQUIRE(edges_of(graph) == Edges{{first, node}});
}

TEST_CASE("a child graph node is added by the call for all kinds, which clones unless told to move", "[child]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    auto child = std::make_unique<Graph>();
    const cudaGraphNode_t original = add_kernel(*child, call);
    Graph graph;
    cudaGraphNodeParams params = child_params(*child);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    REQUIRE(graph_inside(node) != *child);
    REQUIRE(nodes_of(graph_inside(node)) != Nodes{original});
    child.reset();
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("removing a child graph node destroys the graph inside", "[child]") {
    Resource resource;
    Graph graph;
    cudaGraphNode_t node = nullptr;
    {
        Graph child;
        give(child, resource);
        node = add_child(graph, child);
    }
    REQUIRE(resource.destroyed == 0);
    REQUIRE_CUDA(cudaGraphDestroyNode(node));
    REQUIRE(nodes_of(graph).empty());
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("a parent holds the user objects of its child", "[child][user_objects]") {
    Resource resource;
    Graph graph;
    {
        Graph child;
        give(child, resource);
        add_child(graph, child);
    }
    REQUIRE(resource.destroyed == 0);
    graph.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("an executable graph holds the user objects of its graph's children", "[child][user_objects]") {
    Resource resource;
    Graph graph;
    {
        Graph child;
        Graph inner;
        give(inner, resource);
        add_child(child, inner);
        add_child(graph, child);
    }
    Exec exec(graph);
    graph.destroy();
    REQUIRE(resource.destroyed == 0);
    exec.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("a clone clones the graphs inside", "[child][clone]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    Graph clone(nullptr);
    {
        Graph child;
        add_kernel(child, call);
        Graph graph;
        const cudaGraphNode_t node = add_child(graph, child);
        REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
        cudaGraphNode_t found = nullptr;
        REQUIRE_CUDA(cudaGraphNodeFindInClone(&found, node, clone));
        REQUIRE(found != node);
        REQUIRE(graph_inside(found) != graph_inside(node));
        REQUIRE(nodes_of(graph_inside(found)).size() == 1);
        REQUIRE(nodes_of(graph_inside(found)) != nodes_of(graph_inside(node)));
        // Nodes inside are found in the clone of their own graph alone.
        const cudaGraphNode_t inner = nodes_of(graph_inside(node))[0];
        cudaGraphNode_t inner_found = nullptr;
        REQUIRE_CUDA(cudaGraphNodeFindInClone(&inner_found, inner, graph_inside(found)));
        REQUIRE(nodes_of(graph_inside(found)) == Nodes{inner_found});
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&inner_found, inner, clone));
    }
    Exec(clone).run(stream);
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("a cycle in a child graph is found when its parent is instantiated", "[child]") {
    Graph graph;
    Graph child;
    const cudaGraphNode_t first = add_empty(child);
    const cudaGraphNode_t second = add_empty(child, {first});
    add_edge(child, second, first);
    add_child(graph, child);
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams params{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateInvalidStructure);
}

TEST_CASE("a child graph cannot be instantiated, destroyed or given away by itself", "[child]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    Graph graph;
    Graph child;
    add_kernel(child, call);
    const cudaGraphNode_t node = add_child(graph, child);
    const cudaGraph_t inside = graph_inside(node);
    const Exec exec(child);
    auto made = untouched<cudaGraphExec_t>();
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiateWithFlags(&made, inside, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(inside));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecUpdate(exec, inside, &info));
    Graph other;
    auto added = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&added, other, nullptr, 0, inside));
    REQUIRE(nodes_of(other).empty());
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("the graph inside a node can be cloned, and the clone stands alone", "[child][clone]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 5);
    Graph clone(nullptr);
    {
        Graph graph;
        Graph child;
        add_kernel(child, call);
        REQUIRE_CUDA(cudaGraphClone(clone.out(), graph_inside(add_child(graph, child))));
    }
    Exec(clone).run(stream);
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("bad arguments of child graph nodes are refused", "[child]") {
    Graph graph;
    Graph child;
    const cudaGraphNode_t empty = add_empty(graph);
    auto node = untouched<cudaGraphNode_t>();
    auto inside = untouched<cudaGraph_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(nullptr, graph, nullptr, 0, child));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&node, nullptr, nullptr, 0, child));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(empty, &inside));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(nullptr, &inside));
    const cudaGraphNode_t good = add_child(graph, child);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(good, nullptr));
    REQUIRE(nodes_of(graph) == Nodes{empty, good});
}

TEST_CASE("a child graph node cannot be switched off", "[child][enable]") {
    Graph graph;
    Graph child;
    add_empty(child);
    const cudaGraphNode_t node = add_child(graph, child);
    const Exec exec(graph);
    unsigned enabled = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, node, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, node, &enabled));
}
