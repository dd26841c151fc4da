// Programmatic launches in a capture: edges that say what they wait for.
#include "capture.hpp"
#include "programmatic.hpp"

#include <vector>

namespace {

cudaError_t launch_with(cudaStream_t stream, const cudaLaunchAttribute& attribute) {
    Call call(nothing);
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 1;
    config.stream = stream;
    cudaLaunchAttribute copy = attribute;
    config.attrs = &copy;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, call.function(), call.arguments());
}

cudaLaunchAttribute serialization(int allowed = 1) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = allowed;
    return attribute;
}

cudaLaunchAttribute recording(cudaEvent_t event, int at_block_start = 0) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = at_block_start;
    return attribute;
}

bool same(const cudaGraphEdgeData& data, unsigned port, cudaGraphDependencyType type) {
    return data.from_port == port && data.to_port == 0 && data.type == type;
}

bool is_full(const cudaGraphEdgeData& data) {
    return same(data, cudaGraphKernelNodePortDefault, cudaGraphDependencyTypeDefault);
}

bool is_programmatic(const cudaGraphEdgeData& data) {
    return same(data, cudaGraphKernelNodePortProgrammatic, cudaGraphDependencyTypeProgrammatic);
}

cudaGraphEdgeData between(cudaGraph_t graph, std::size_t from, std::size_t to) {
    const Nodes nodes = nodes_of(graph);
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(nodes.at(to), nullptr, nullptr, &count));
    Nodes before(count);
    std::vector<cudaGraphEdgeData> data(count);
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(nodes.at(to), before.data(), data.data(), &count));
    const auto found = std::find(before.begin(), before.end(), nodes.at(from));
    REQUIRE(found != before.end());
    return data[static_cast<std::size_t>(found - before.begin())];
}

/// An event without timing, as programmatic launches need.
struct Untimed : Event {
    Untimed() : Event(cudaEventDisableTiming) {}
};

} // namespace

TEST_CASE("a launch that may start early has programmatic edges from kernels", "[capture][edge_data]") {
    Stream stream;
    DeviceInts data(1);
    Call call(nothing);
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, serialization())); // 0
    REQUIRE_CUDA(launch_with(stream, serialization())); // 1
    REQUIRE(is_full(info_of(stream).data.at(0)));
    call.launch(stream);                                // 2
    REQUIRE_CUDA(launch_with(stream, serialization())); // 3
    REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0, 4, stream));
    REQUIRE_CUDA(launch_with(stream, serialization()));  // 5
    REQUIRE_CUDA(launch_with(stream, serialization(0))); // 6
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
    REQUIRE(is_programmatic(between(graph, 0, 1)));
    REQUIRE(is_full(between(graph, 1, 2)));
    REQUIRE(is_programmatic(between(graph, 2, 3)));
    REQUIRE(is_full(between(graph, 3, 4)));
    REQUIRE(is_full(between(graph, 4, 5)));
    REQUIRE(is_full(between(graph, 5, 6)));
    Exec(graph).run(stream);
}

TEST_CASE("a launch that may start early after a join waits fully for what is no kernel", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    DeviceInts data(1);
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream); // 0
    follow(fork, stream);
    const bool other_kernel = GENERATE(false, true);
    if (other_kernel) {
        call.launch(fork); // 1
    } else {
        REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0, 4, fork)); // 1
    }
    call.launch(stream); // 2
    follow(stream, fork);
    REQUIRE_CUDA(launch_with(stream, serialization())); // 3
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    REQUIRE(is_programmatic(between(graph, 1, 3)) == other_kernel);
    REQUIRE(is_full(between(graph, 1, 3)) == !other_kernel);
    REQUIRE(is_programmatic(between(graph, 2, 3)));
    Exec(graph).run(stream);
}

TEST_CASE("captured kernels that may overlap see each other's results where they wait", "[capture][edge_data]") {
    Stream stream;
    DeviceInts data(2);
    Call first(trigger_then_store, data.data(), 0, 1);
    Call second(wait_then_copy_plus, data.data(), data.data() + 1, 1, 10);
    Capture capture(stream);
    first.launch(stream);
    cudaLaunchAttribute attribute = serialization();
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 1;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    REQUIRE_CUDA(cudaLaunchKernelExC(&config, second.function(), second.arguments()));
    const cudaGraph_t graph = capture.end();
    REQUIRE(is_programmatic(between(graph, 0, 1)));
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{1, 11});
}

TEST_CASE("what follows a captured kernel that may start early follows the kernel before it, too",
          "[capture][edge_data]") {
    Stream stream;
    DeviceInts data(2);
    Call first(trigger_then_store_late, data.data(), 0, 1);
    Call third(copy_plus, data.data(), data.data() + 1, 1, 10);
    Capture capture(stream);
    first.launch(stream);
    REQUIRE_CUDA(launch_with(stream, serialization()));
    third.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(is_programmatic(between(graph, 0, 1)));
    const Exec exec(graph);
    for (int i = 0; i < 50; ++i) {
        data.write({0, 0});
        exec.run(stream);
        REQUIRE(data.read() == std::vector{1, 11});
    }
}

TEST_CASE("waiting for a launch's programmatic event gives a programmatic edge", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    Untimed event;
    Call call(nothing);
    const int at_block_start = GENERATE(0, 1);
    const unsigned port =
        at_block_start != 0 ? cudaGraphKernelNodePortLaunchCompletion : cudaGraphKernelNodePortProgrammatic;
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, recording(event, at_block_start))); // 0
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    REQUIRE(same(info_of(fork).data.at(0), port, cudaGraphDependencyTypeProgrammatic));
    call.launch(fork);   // 1
    call.launch(stream); // 2
    follow(stream, fork);
    const cudaGraph_t graph = capture.end();
    REQUIRE(places(graph) == Places{{0, 1}, {0, 2}});
    REQUIRE(same(between(graph, 0, 1), port, cudaGraphDependencyTypeProgrammatic));
    REQUIRE(is_full(between(graph, 0, 2)));
    Exec(graph).run(stream);
}

TEST_CASE("a programmatic dependency is handed on from stream to stream", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    Stream far;
    Untimed event;
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, recording(event)));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    follow(far, fork);
    REQUIRE(is_programmatic(info_of(far).data.at(0)));
    capture.end();
}

TEST_CASE("a full dependency on a node takes the place of a programmatic one", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    Untimed event;
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, recording(event)));
    // The stream itself comes after the whole kernel anyway.
    REQUIRE_CUDA(cudaStreamWaitEvent(stream, event, 0));
    REQUIRE(info_of(stream).data.size() == 1);
    REQUIRE(is_full(info_of(stream).data[0]));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    follow(fork, stream);
    REQUIRE(info_of(fork).data.size() == 1);
    REQUIRE(is_full(info_of(fork).data[0]));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    REQUIRE(info_of(fork).data.size() == 1);
    REQUIRE(is_full(info_of(fork).data[0]));
    capture.end();
}

TEST_CASE("what is no kernel may be captured after a programmatic event", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    Untimed event;
    DeviceInts data(1);
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, recording(event)));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0, 4, fork));
    follow(stream, fork);
    const cudaGraph_t graph = capture.end();
    REQUIRE(is_programmatic(between(graph, 0, 1)));
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{0});
}

TEST_CASE("a programmatic dependency is not told without its data", "[capture][edge_data][capture_info]") {
    Stream stream;
    Stream fork;
    Untimed event;
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, recording(event)));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    auto status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
    REQUIRE_CUDA_ERROR(cudaErrorLossyQuery,
                       cudaStreamGetCaptureInfo(fork, &status, nullptr, nullptr, &nodes, nullptr, &count));
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
    REQUIRE(captures(fork));
    capture.end();
}

TEST_CASE("waiting for a launch-completion event gives an edge from that port", "[capture][edge_data]") {
    Stream stream;
    Stream fork;
    Untimed event;
    Call call(nothing);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event;
    Capture capture(stream);
    REQUIRE_CUDA(launch_with(stream, attribute));
    REQUIRE_CUDA(cudaStreamWaitEvent(fork, event, 0));
    call.launch(fork);
    follow(stream, fork);
    const cudaGraph_t graph = capture.end();
    REQUIRE(same(between(graph, 0, 1), cudaGraphKernelNodePortLaunchCompletion, cudaGraphDependencyTypeDefault));
}

TEST_CASE("an event that takes times is no programmatic event, whether the launch is captured or not",
          "[capture][events]") {
    Stream stream;
    Event timed;
    Untimed event;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, launch_with(stream, recording(timed)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, launch_with(stream, recording(nullptr)));
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, launch_with(stream, recording(timed)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, launch_with(stream, recording(nullptr)));
    REQUIRE_CUDA(launch_with(stream, recording(event)));
    REQUIRE(nodes_of(capture.end()).size() == 1);
}
