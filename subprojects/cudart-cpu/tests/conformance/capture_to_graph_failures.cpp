// Captures into a graph that fail: they destroy it.
#include "capture.hpp"
#include "conditional.hpp"
#include "resource.hpp"

#include <vector>

namespace {

/// What is left of a graph that a failed capture took with it.
void require_gone(cudaGraph_t graph) {
    std::size_t count = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(graph, nullptr, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
}

} // namespace

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

TEST_CASE("an invalidated capture into a graph destroys its bodies with what they hold",
          "[capture][to_graph][conditional][user_objects]") {
    Resource around;
    Resource inside;
    Stream stream;
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    const Conditional branch = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    give(graph, around);
    give(branch.bodies[0], inside);
    REQUIRE_CUDA(begin_into(stream, graph));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
    refuse_end(cudaErrorStreamCaptureInvalidated, stream);
    REQUIRE(around.destroyed == 1);
    REQUIRE(inside.destroyed == 1);
    require_gone(graph);
}

TEST_CASE("an invalidated capture into a body destroys the body, and not the graph around it",
          "[capture][to_graph][conditional][user_objects]") {
    static Resource around; // a GPU's runtime crashes where such a graph is instantiated or destroyed: it stays
    Resource inside;
    Stream stream;
    Call call(nothing);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    const Conditional branch = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    give(graph, around);
    give(branch.bodies[0], inside);
    REQUIRE_CUDA(begin_into(stream, branch.bodies[0], {}, cudaStreamCaptureModeThreadLocal));
    call.launch(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
    refuse_end(cudaErrorStreamCaptureInvalidated, stream);
    REQUIRE(inside.destroyed == 1);
    REQUIRE(around.destroyed == 0);
    std::size_t count = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetNodes(branch.bodies[0], nullptr, &count));
    REQUIRE(nodes_of(graph) == Nodes{branch.node});
}
