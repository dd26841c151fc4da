// What a captured stream's next node depends on: asked for, and set by hand.
#include "capture.hpp"

#include <vector>

namespace {

cudaError_t update(cudaStream_t stream, const Nodes& nodes, unsigned flags, const cudaGraphEdgeData* data = nullptr) {
    Nodes copy = nodes;
    return cudaStreamUpdateCaptureDependencies(stream, copy.data(), data, copy.size(), flags);
}

cudaGraphEdgeData programmatic() {
    cudaGraphEdgeData data{};
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    data.type = cudaGraphDependencyTypeProgrammatic;
    return data;
}

constexpr auto adding = cudaStreamAddCaptureDependencies;
constexpr auto setting = cudaStreamSetCaptureDependencies;

} // namespace

TEST_CASE("a stream that does not capture has a status only", "[capture][capture_info]") {
    Stream stream;
    const auto one = GENERATE(0, 1, 2);
    const cudaStream_t streams[] = {stream, nullptr, cudaStreamPerThread};
    auto status = cudaStreamCaptureStatusActive;
    unsigned long long id = 777;
    auto graph = untouched<cudaGraph_t>();
    auto nodes = untouched<const cudaGraphNode_t*>();
    auto data = untouched<const cudaGraphEdgeData*>();
    std::size_t count = 777;
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(streams[one], &status, &id, &graph, &nodes, &data, &count));
    REQUIRE(status == cudaStreamCaptureStatusNone);
    REQUIRE(id == 777);
    REQUIRE(graph == untouched<cudaGraph_t>());
    REQUIRE(nodes == untouched<const cudaGraphNode_t*>());
    REQUIRE(data == untouched<const cudaGraphEdgeData*>());
    REQUIRE(count == 777);
}

TEST_CASE("an invalidated capture has a status only", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    auto status = cudaStreamCaptureStatusActive;
    unsigned long long id = 777;
    auto graph = untouched<cudaGraph_t>();
    auto nodes = untouched<const cudaGraphNode_t*>();
    std::size_t count = 777;
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, nullptr, &count));
    REQUIRE(status == cudaStreamCaptureStatusInvalidated);
    REQUIRE(id == 777);
    REQUIRE(graph == untouched<cudaGraph_t>());
    REQUIRE(nodes == untouched<const cudaGraphNode_t*>());
    REQUIRE(count == 777);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, update(stream, {}, setting));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a captured stream tells its graph and what comes next depends on", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    const CaptureInfo before = info_of(stream);
    REQUIRE(before.status == cudaStreamCaptureStatusActive);
    REQUIRE(before.next.empty());
    call.launch(stream);
    call.launch(stream);
    const CaptureInfo after = info_of(stream);
    REQUIRE(after.graph == before.graph);
    REQUIRE(after.id == before.id);
    REQUIRE(after.next == Nodes{nodes_of(after.graph)[1]});
    REQUIRE(after.data.at(0).from_port == cudaGraphKernelNodePortDefault);
    REQUIRE(after.data.at(0).type == cudaGraphDependencyTypeDefault);
    REQUIRE(capture.end() == after.graph);
}

TEST_CASE("every capture has an id of its own, its streams the same", "[capture][capture_info]") {
    Stream first;
    Stream second;
    Stream fork;
    Capture one(first, relaxed);
    Capture other(second, relaxed);
    follow(fork, first);
    const unsigned long long id = info_of(first).id;
    REQUIRE(info_of(second).id != id);
    REQUIRE(info_of(fork).id == id);
    one.end();
    Capture later(first, relaxed);
    REQUIRE(info_of(first).id != id);
    REQUIRE(info_of(first).id != info_of(second).id);
    other.end();
    later.end();
}

TEST_CASE("every answer but the status may be left out", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    auto status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, nullptr));
    REQUIRE(nodes[0] == nodes_of(info_of(stream).graph)[0]);
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
    REQUIRE(count == 1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamGetCaptureInfo(stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    // The edges' data are the nodes' edges' data.
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, &data, &count));
    REQUIRE(captures(stream));
    capture.end();
}

TEST_CASE("a node added by hand is made to precede what is captured next", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream); // 0
    call.launch(stream); // 1
    const cudaGraph_t graph = info_of(stream).graph;
    const Nodes nodes = nodes_of(graph);
    const cudaGraphNode_t by_hand = add_kernel(graph, call, {nodes[0]}); // 2
    SECTION("beside what there is") {
        REQUIRE_CUDA(update(stream, {by_hand}, adding));
        REQUIRE(info_of(stream).next == Nodes{nodes[1], by_hand});
        call.launch(stream);
        REQUIRE(places(capture.end()) == Places{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    }
    SECTION("in place of what there is") {
        REQUIRE_CUDA(update(stream, {by_hand}, setting));
        REQUIRE(info_of(stream).next == Nodes{by_hand});
        call.launch(stream);
        REQUIRE(places(capture.end()) == Places{{0, 1}, {0, 2}, {2, 3}});
    }
}

TEST_CASE("dependencies are set to none, and none are added", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA(update(stream, {}, adding));
    REQUIRE(info_of(stream).next.size() == 1);
    REQUIRE_CUDA(update(stream, {}, setting));
    REQUIRE(info_of(stream).next.empty());
    call.launch(stream);
    // Nothing that comes later depends on the first node: that is no fork.
    REQUIRE(places(capture.end()).empty());
}

TEST_CASE("dependencies are set with data for their edges", "[capture][capture_info][edge_data]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    const Nodes nodes = nodes_of(info_of(stream).graph);
    const cudaGraphEdgeData data = programmatic();
    REQUIRE_CUDA(update(stream, nodes, setting, &data));
    REQUIRE(info_of(stream).next == nodes);
    REQUIRE(info_of(stream).data.at(0).from_port == cudaGraphKernelNodePortProgrammatic);
    SECTION("the same again changes nothing") {
        REQUIRE_CUDA(update(stream, nodes, adding, &data));
        REQUIRE(info_of(stream).next == nodes);
        REQUIRE(info_of(stream).data.at(0).from_port == cudaGraphKernelNodePortProgrammatic);
        call.launch(stream);
        const cudaGraph_t graph = capture.end();
        cudaGraphNode_t from = nullptr;
        cudaGraphEdgeData found{};
        std::size_t count = 1;
        REQUIRE_CUDA(cudaGraphNodeGetDependencies(nodes_of(graph)[1], &from, &found, &count));
        REQUIRE(found.from_port == cudaGraphKernelNodePortProgrammatic);
        REQUIRE(found.type == cudaGraphDependencyTypeProgrammatic);
    }
    SECTION("waiting for the start of its blocks, too, changes nothing") {
        cudaGraphEdgeData start = data;
        start.from_port = cudaGraphKernelNodePortLaunchCompletion;
        REQUIRE_CUDA(update(stream, nodes, adding, &start));
        REQUIRE(info_of(stream).next == nodes);
        REQUIRE(info_of(stream).data.at(0).from_port == cudaGraphKernelNodePortProgrammatic);
        REQUIRE(info_of(stream).data.at(0).type == cudaGraphDependencyTypeProgrammatic);
        capture.end();
    }
    SECTION("an ordinary wait for the start of its blocks, too, changes nothing") {
        cudaGraphEdgeData start{};
        start.from_port = cudaGraphKernelNodePortLaunchCompletion;
        REQUIRE_CUDA(update(stream, nodes, adding, &start));
        REQUIRE(info_of(stream).next == nodes);
        REQUIRE(info_of(stream).data.at(0).from_port == cudaGraphKernelNodePortProgrammatic);
        REQUIRE(info_of(stream).data.at(0).type == cudaGraphDependencyTypeProgrammatic);
        capture.end();
    }
    SECTION("a full dependency on the same node takes its place") {
        REQUIRE_CUDA(update(stream, nodes, adding));
        REQUIRE(info_of(stream).next == nodes);
        REQUIRE(info_of(stream).data.at(0).from_port == cudaGraphKernelNodePortDefault);
        REQUIRE(info_of(stream).data.at(0).type == cudaGraphDependencyTypeDefault);
        capture.end();
    }
}

TEST_CASE("an answer that would leave edge data out is refused", "[capture][capture_info][edge_data]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    const cudaGraphEdgeData data = programmatic();
    REQUIRE_CUDA(update(stream, nodes_of(info_of(stream).graph), setting, &data));
    auto status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 777;
    REQUIRE_CUDA_ERROR(cudaErrorLossyQuery,
                       cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
    REQUIRE(status == cudaStreamCaptureStatusNone);
    REQUIRE(count == 777);
    // The count alone loses nothing.
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
    REQUIRE(count == 1);
    REQUIRE(captures(stream));
    capture.end();
}

TEST_CASE("any thread updates the dependencies", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    elsewhere([&] { REQUIRE_CUDA(update(stream, {}, setting)); });
    REQUIRE(info_of(stream).next.empty());
    capture.end();
}

TEST_CASE("a stream that does not capture has no dependencies to update", "[capture][capture_info]") {
    Stream stream;
    const auto flags = GENERATE(adding, setting);
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, update(stream, {}, flags));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, update(nullptr, {}, flags));
}

TEST_CASE("bad arguments of an update of dependencies are refused, and nothing changes", "[capture][capture_info]") {
    Stream stream;
    Call call(nothing);
    Graph other;
    const cudaGraphNode_t foreign = add_empty(other);
    Capture capture(stream);
    call.launch(stream);
    const Nodes before = info_of(stream).next;
    const auto flags = GENERATE(adding, setting);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, update(stream, {foreign}, flags));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 1, flags));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, update(stream, {}, 7));
    REQUIRE(captures(stream));
    REQUIRE(info_of(stream).next == before);
    capture.end();
}
