// Captures into a graph that exists already.
#include "capture.hpp"
#include "child.hpp"

#include <vector>

TEST_CASE("a capture into a graph adds its nodes to those that are there", "[capture][to_graph]") {
    Stream stream;
    DeviceInts data(3);
    Call before(store, data.data(), 0, 1);
    Call set(store, data.data(), 1, 2);
    Call plus(add, data.data(), 1, 10);
    Graph graph;
    add_kernel(graph, before);
    REQUIRE_CUDA(begin_into(stream, graph));
    REQUIRE(captures(stream));
    REQUIRE(info_of(stream).graph == graph);
    set.launch(stream);
    plus.launch(stream);
    end_into(stream, graph);
    REQUIRE(places(graph) == Places{{1, 2}});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{1, 12, poison});
}

TEST_CASE("a graph is captured into piece by piece", "[capture][to_graph]") {
    Stream first;
    Stream second;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Graph graph;
    REQUIRE_CUDA(begin_into(first, graph));
    set.launch(first);
    end_into(first, graph);
    REQUIRE_CUDA(begin_into(second, graph, nodes_of(graph)));
    plus.launch(second);
    end_into(second, graph);
    REQUIRE(places(graph) == Places{{0, 1}});
    Exec(graph).run(first);
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("what is captured into a graph first depends on the given nodes", "[capture][to_graph]") {
    Stream stream;
    Call call(nothing);
    Graph graph;
    const cudaGraphNode_t a = add_kernel(graph, call);
    const cudaGraphNode_t b = add_kernel(graph, call);
    const cudaGraphNode_t c = add_kernel(graph, call);
    static_cast<void>(c);
    SECTION("in their order") {
        REQUIRE_CUDA(begin_into(stream, graph, {b, a}));
        REQUIRE(info_of(stream).next == Nodes{b, a});
        call.launch(stream);
        REQUIRE(info_of(stream).next == Nodes{nodes_of(graph)[3]});
        call.launch(stream);
        end_into(stream, graph);
        REQUIRE(places(graph) == Places{{0, 3}, {1, 3}, {3, 4}});
    }
    SECTION("each once") {
        REQUIRE_CUDA(begin_into(stream, graph, {a, a}));
        REQUIRE(info_of(stream).next == Nodes{a});
        call.launch(stream);
        end_into(stream, graph);
        REQUIRE(places(graph) == Places{{0, 3}});
    }
}

TEST_CASE("the edges from the given nodes keep their data", "[capture][to_graph][edge_data]") {
    Stream stream;
    Call call(nothing);
    Graph graph;
    const cudaGraphNode_t a = add_kernel(graph, call);
    const cudaGraphNode_t b = add_kernel(graph, call);
    const cudaGraphNode_t after[] = {b, a};
    cudaGraphEdgeData data[2]{};
    data[0].from_port = cudaGraphKernelNodePortProgrammatic;
    data[0].type = cudaGraphDependencyTypeProgrammatic;
    REQUIRE_CUDA(cudaStreamBeginCaptureToGraph(stream, graph, after, data, 2, relaxed));
    const CaptureInfo info = info_of(stream);
    REQUIRE(info.next == Nodes{b, a});
    REQUIRE(info.data[0].from_port == cudaGraphKernelNodePortProgrammatic);
    REQUIRE(info.data[0].type == cudaGraphDependencyTypeProgrammatic);
    REQUIRE(info.data[1].type == cudaGraphDependencyTypeDefault);
    call.launch(stream);
    end_into(stream, graph);
    cudaGraphNode_t from[2]{};
    cudaGraphEdgeData found[2]{};
    std::size_t count = 2;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(nodes_of(graph)[2], from, found, &count));
    REQUIRE(count == 2);
    const int programmatic = from[0] == b ? 0 : 1;
    REQUIRE(found[programmatic].from_port == cudaGraphKernelNodePortProgrammatic);
    REQUIRE(found[1 - programmatic].from_port == cudaGraphKernelNodePortDefault);
}

TEST_CASE("a capture into a graph may add nothing", "[capture][to_graph]") {
    Stream stream;
    Graph graph;
    const cudaGraphNode_t node = add_empty(graph);
    REQUIRE_CUDA(begin_into(stream, graph, {node}));
    end_into(stream, graph);
    REQUIRE(nodes_of(graph) == Nodes{node});
}

TEST_CASE("bad arguments of a begin into a graph are refused", "[capture][to_graph]") {
    Stream stream;
    Graph graph;
    Graph other;
    const cudaGraphNode_t node = add_empty(graph);
    const cudaGraphNode_t foreign = add_empty(other);
    const auto refused = [&](cudaError_t code, cudaError_t answer) {
        REQUIRE(answer == code);
        REQUIRE(cudaGetLastError() == code);
        REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
    };
    refused(cudaErrorInvalidValue, begin_into(stream, nullptr));
    refused(cudaErrorInvalidValue, begin_into(stream, graph, {foreign}));
    refused(cudaErrorInvalidValue, begin_into(stream, graph, {nullptr}));
    refused(cudaErrorInvalidValue, begin_into(stream, graph, {}, static_cast<cudaStreamCaptureMode>(3)));
    refused(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 1, relaxed));
    cudaGraphEdgeData data{};
    data.from_port = 9;
    refused(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(stream, graph, &node, &data, 1, relaxed));
    refused(cudaErrorStreamCaptureUnsupported, begin_into(nullptr, graph));
    REQUIRE(nodes_of(graph) == Nodes{node});
}

TEST_CASE("one capture at a time goes into a graph", "[capture][to_graph]") {
    Stream first;
    Stream second;
    Call call(nothing);
    Graph graph;
    REQUIRE_CUDA(begin_into(first, graph));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, begin_into(second, graph));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, begin_into(first, graph));
    REQUIRE(status_of(second) == cudaStreamCaptureStatusNone);
    call.launch(first);
    end_into(first, graph);
    REQUIRE(nodes_of(graph).size() == 1);
    REQUIRE_CUDA(begin_into(second, graph));
    end_into(second, graph);
}

TEST_CASE("forks of a capture into a graph are joined like others", "[capture][to_graph]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    Graph graph;
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(begin_into(origin, graph, {node}));
    follow(fork, origin);
    REQUIRE(info_of(fork).next == Nodes{node});
    REQUIRE(info_of(fork).graph == graph);
    call.launch(fork);
    call.launch(origin);
    follow(origin, fork);
    call.launch(origin);
    end_into(origin, graph);
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

TEST_CASE("a graph is read, copied and run while it is captured into", "[capture][to_graph]") {
    Stream stream;
    Stream other;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    Call late(store, data.data(), 1, 2);
    Graph graph;
    Graph clone(nullptr);
    Graph parent;
    REQUIRE_CUDA(begin_into(stream, graph));
    set.launch(stream);
    REQUIRE(nodes_of(graph).size() == 1);
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    add_child(parent, graph);
    late.launch(stream);
    REQUIRE(captures(stream));
    end_into(stream, graph);
    REQUIRE(nodes_of(graph).size() == 2);
    REQUIRE(nodes_of(clone).size() == 1);
    exec.run(other);
    REQUIRE(data.read() == std::vector{1, poison});
}

TEST_CASE("nodes are added and changed by hand while their graph is captured into", "[capture][to_graph]") {
    Stream stream;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    Call again(store, data.data(), 0, 5);
    Call other(store, data.data(), 1, 2);
    Graph graph;
    REQUIRE_CUDA(begin_into(stream, graph));
    set.launch(stream);
    const cudaGraphNode_t first = nodes_of(graph).at(0);
    const cudaGraphNode_t second = add_kernel(graph, other);
    add_edge(graph, first, second);
    REQUIRE_CUDA(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
    const cudaKernelNodeParams params = again.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(first, &params));
    REQUIRE(captures(stream));
    end_into(stream, graph);
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{5, 2});
}

TEST_CASE("a graph that is captured into cannot be destroyed, nor its nodes", "[capture][to_graph]") {
    Stream stream;
    Call call(nothing);
    Graph graph;
    const cudaGraphNode_t node = add_empty(graph);
    REQUIRE_CUDA(begin_into(stream, graph));
    call.launch(stream);
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaGraphDestroy(graph));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaGraphDestroyNode(node));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaGraphDestroyNode(nodes_of(graph)[1]));
    REQUIRE(captures(stream));
    end_into(stream, graph);
    REQUIRE(nodes_of(graph).size() == 2);
    REQUIRE_CUDA(cudaGraphDestroyNode(node));
}

TEST_CASE("the graph of a capture without one of its own cannot be destroyed either", "[capture][to_graph]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    const cudaGraph_t graph = info_of(stream).graph;
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaGraphDestroy(graph));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaGraphDestroyNode(nodes_of(graph)[0]));
    REQUIRE(captures(stream));
    REQUIRE(capture.end() == graph);
}
