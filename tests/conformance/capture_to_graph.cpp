// Captures into a graph that exists already.
#include "capture.hpp"
#include "child.hpp"
#include "conditional.hpp"

#include <vector>

namespace {

cudaError_t begin_into(cudaStream_t stream, cudaGraph_t graph, const Nodes& after = {},
                       cudaStreamCaptureMode mode = relaxed) {
    return cudaStreamBeginCaptureToGraph(stream, graph, after.data(), nullptr, after.size(), mode);
}

void end_into(cudaStream_t stream, cudaGraph_t graph) {
    auto ended = untouched<cudaGraph_t>();
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &ended));
    REQUIRE(ended == graph);
}

/// What is left of a graph that a failed capture took with it.
void require_gone(cudaGraph_t graph) {
    std::size_t count = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nullptr, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
}

} // namespace

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

TEST_CASE("an invalidated capture into a graph can be read until its end, which destroys the graph",
          "[capture][to_graph]") {
    Stream stream;
    Call call(nothing);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(begin_into(stream, graph, {node}));
    call.launch(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    REQUIRE(places(graph) == Places{{0, 1}});
    refuse_end(cudaErrorStreamCaptureInvalidated, stream);
    require_gone(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, begin_into(stream, graph));
}

TEST_CASE("an unjoined capture into a graph destroys the graph", "[capture][to_graph]") {
    Stream origin;
    Stream fork;
    Call call(nothing);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    REQUIRE_CUDA(begin_into(origin, graph));
    call.launch(origin);
    follow(fork, origin);
    call.launch(fork);
    refuse_end(cudaErrorStreamCaptureUnjoined, origin);
    require_gone(graph);
}

TEST_CASE("a capture into a graph that another thread ends destroys the graph, unless it is relaxed",
          "[capture][to_graph]") {
    Stream stream;
    const auto mode = GENERATE(cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    REQUIRE_CUDA(begin_into(stream, graph, {}, mode));
    elsewhere([&] { refuse_end(cudaErrorStreamCaptureWrongThread, stream); });
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
    require_gone(graph);
}

TEST_CASE("a capture into a graph takes the graph with it when its stream is destroyed", "[capture][to_graph]") {
    cudaStream_t stream = nullptr;
    REQUIRE_CUDA(cudaStreamCreate(&stream));
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    REQUIRE_CUDA(begin_into(stream, graph));
    REQUIRE_CUDA(cudaStreamDestroy(stream));
    require_gone(graph);
}

TEST_CASE("what was made of a graph survives a failed capture into it", "[capture][to_graph]") {
    Stream stream;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    add_kernel(graph, set);
    const Exec exec(graph);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    REQUIRE_CUDA(begin_into(stream, graph));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    refuse_end(cudaErrorStreamCaptureInvalidated, stream);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1, poison});
    REQUIRE(nodes_of(clone).size() == 1);
}

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
