// A capture from its begin to its end: what the stream takes, what comes out, who may end it.
#include "capture.hpp"

#include <future>
#include <vector>

TEST_CASE("captured work runs when its graph is launched, not before", "[capture]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Capture capture(stream);
    REQUIRE(captures(stream));
    set.launch(stream);
    plus.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
    REQUIRE(data.read() == std::vector{poison});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{11});
    exec.run(stream);
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a stream captures again after its capture, and runs work between", "[capture]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    Capture first(stream);
    set.launch(stream);
    const Exec setting(first.end());
    Capture second(stream);
    plus.launch(stream);
    const Exec adding(second.end());
    setting.run(stream);
    plus.launch(stream);
    adding.run(stream);
    REQUIRE(data.read() == std::vector{21});
}

TEST_CASE("an empty capture gives an empty graph, which runs", "[capture]") {
    Stream stream;
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    const cudaGraph_t graph = capture.end();
    REQUIRE(nodes_of(graph).empty());
    Exec(graph).run(stream);
}

TEST_CASE("a captured graph's nodes are in the order of the calls", "[capture]") {
    Stream stream;
    DeviceInts data(4);
    Call set(store, data.data(), 0, 1);
    Capture capture(stream);
    set.launch(stream);
    REQUIRE_CUDA(cudaMemsetAsync(data.data() + 1, 0, 4, stream));
    REQUIRE_CUDA(cudaLaunchHostFunc(
        stream, [](void*) {}, nullptr));
    REQUIRE_CUDA(cudaMemcpyAsync(data.data() + 2, data.data(), 8, cudaMemcpyDeviceToDevice, stream));
    set.launch(stream);
    const cudaGraph_t graph = capture.end();
    REQUIRE(types_of(graph) == std::vector{cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost,
                                           cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeKernel});
    REQUIRE(places(graph) == Places{{0, 1}, {1, 2}, {2, 3}, {3, 4}});
}

TEST_CASE("the per-thread stream captures, the legacy stream does not", "[capture]") {
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(nullptr, mode));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(cudaStreamLegacy, mode));
    REQUIRE(status_of(cudaStreamLegacy) == cudaStreamCaptureStatusNone);
    Capture capture(cudaStreamPerThread, mode);
    REQUIRE(captures(cudaStreamPerThread));
    call.launch(cudaStreamPerThread);
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("a stream that captures cannot begin again, and goes on", "[capture]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    REQUIRE_CUDA_ERROR(cudaErrorIllegalState, cudaStreamBeginCapture(stream, relaxed));
    REQUIRE(captures(stream));
    call.launch(stream);
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("bad arguments of a begin, and of the question, are refused", "[capture]") {
    Stream stream;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(3)));
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamIsCapturing(stream, nullptr));
}

TEST_CASE("a stream that does not capture has nothing to end", "[capture]") {
    Stream stream;
    refuse_end(cudaErrorIllegalState, stream);
    refuse_end(cudaErrorIllegalState, nullptr);
    refuse_end(cudaErrorIllegalState, cudaStreamPerThread);
    Capture capture(stream);
    capture.end();
    refuse_end(cudaErrorIllegalState, stream);
}

TEST_CASE("a capture ends without anybody who wants its graph", "[capture]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    REQUIRE_CUDA(cudaStreamEndCapture(stream, nullptr));
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
}

TEST_CASE("work that was given to a stream before its capture goes on", "[capture]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call plus(add, data.data(), 0, 10);
    const auto mode = GENERATE(values(all_modes));
    set.launch(stream);
    Capture capture(stream, mode);
    plus.launch(stream);
    const cudaGraph_t graph = capture.end();
    stream.synchronize();
    REQUIRE(data.read() == std::vector{1});
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{11});
}

TEST_CASE("a thread captures several streams at once", "[capture]") {
    Stream first;
    Stream second;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture one(first, mode);
    Capture other(second, mode);
    call.launch(first);
    call.launch(second);
    call.launch(second);
    REQUIRE(nodes_of(one.end()).size() == 1);
    REQUIRE(nodes_of(other.end()).size() == 2);
}

TEST_CASE("threads capture at the same time, whatever the modes", "[capture]") {
    Stream first;
    Stream second;
    Call call(nothing);
    const auto mine = GENERATE(values(all_modes));
    const auto theirs = GENERATE(values(all_modes));
    Capture one(first, mine);
    call.launch(first);
    elsewhere([&] {
        Capture other(second, theirs);
        call.launch(second);
        REQUIRE(nodes_of(other.end()).size() == 1);
    });
    REQUIRE(captures(first));
    REQUIRE(nodes_of(one.end()).size() == 1);
}

TEST_CASE("threads capture, instantiate and launch without a care for each other", "[capture]") {
    constexpr int threads = 4;
    constexpr int rounds = 20;
    symbol(add);
    DeviceInts data(threads);
    data.write(std::vector<int>(threads, 0));
    const auto mode = GENERATE(cudaStreamCaptureModeThreadLocal, relaxed);
    std::vector<std::future<int>> failures;
    for (int i = 0; i < threads; ++i) {
        failures.push_back(std::async(std::launch::async, [&, i] {
            // No requirements here: they are for one thread at a time.
            int failed = 0;
            const auto check = [&](cudaError_t code) { failed += code != cudaSuccess; };
            cudaStream_t streams[2]{};
            cudaEvent_t event = nullptr;
            for (cudaStream_t& stream : streams) {
                check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            }
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
            int* to = data.data();
            int index = i;
            int value = 1;
            void* arguments[] = {&to, &index, &value};
            for (int round = 0; round < rounds; ++round) {
                cudaGraph_t graph = nullptr;
                cudaGraphExec_t exec = nullptr;
                check(cudaStreamBeginCapture(streams[0], mode));
                check(cudaEventRecord(event, streams[0]));
                check(cudaStreamWaitEvent(streams[1], event, 0));
                for (const cudaStream_t stream : streams) {
                    check(cudaLaunchKernel(reinterpret_cast<void*>(&add), 1, 1, arguments, 0, stream));
                }
                check(cudaEventRecord(event, streams[1]));
                check(cudaStreamWaitEvent(streams[0], event, 0));
                check(cudaStreamEndCapture(streams[0], &graph));
                check(cudaGraphInstantiateWithFlags(&exec, graph, 0));
                check(cudaGraphLaunch(exec, streams[0]));
                check(cudaStreamSynchronize(streams[0]));
                check(cudaGraphExecDestroy(exec));
                check(cudaGraphDestroy(graph));
            }
            check(cudaEventDestroy(event));
            for (const cudaStream_t stream : streams) {
                check(cudaStreamDestroy(stream));
            }
            return failed;
        }));
    }
    for (std::future<int>& failed : failures) {
        REQUIRE(failed.get() == 0);
    }
    REQUIRE(data.read() == std::vector<int>(threads, 2 * rounds));
}

TEST_CASE("any thread adds to a capture", "[capture]") {
    Stream stream;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    elsewhere([&] {
        REQUIRE(captures(stream));
        call.launch(stream);
    });
    call.launch(stream);
    REQUIRE(places(capture.end()) == Places{{0, 1}});
}

TEST_CASE("only a relaxed capture is ended by another thread; another one is lost by that", "[capture]") {
    Stream stream;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    call.launch(stream);
    elsewhere([&] {
        if (mode == relaxed) {
            REQUIRE(nodes_of(capture.end()).size() == 1);
        } else {
            capture.fail(cudaErrorStreamCaptureWrongThread);
        }
    });
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
    refuse_end(cudaErrorIllegalState, stream);
    call.launch(stream);
    stream.synchronize();
}

TEST_CASE("a capture outlives the thread that began it", "[capture]") {
    Stream stream;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    elsewhere([&] { REQUIRE_CUDA(cudaStreamBeginCapture(stream, mode)); });
    REQUIRE(captures(stream));
    call.launch(stream);
    if (mode == relaxed) {
        cudaGraph_t made = nullptr;
        REQUIRE_CUDA(cudaStreamEndCapture(stream, &made));
        const Graph graph(made);
        REQUIRE(nodes_of(graph).size() == 1);
    } else {
        refuse_end(cudaErrorStreamCaptureWrongThread, stream);
    }
    REQUIRE(status_of(stream) == cudaStreamCaptureStatusNone);
}

TEST_CASE("destroying the stream drops its capture", "[capture]") {
    Stream other;
    cudaStream_t stream = nullptr;
    REQUIRE_CUDA(cudaStreamCreate(&stream));
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, mode));
    call.launch(stream);
    REQUIRE_CUDA(cudaStreamDestroy(stream));
    // Nothing is captured: what a capture forbids is allowed.
    other.synchronize();
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("destroying the origin frees its forks", "[capture]") {
    cudaStream_t stream = nullptr;
    Stream fork;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    REQUIRE_CUDA(cudaStreamCreate(&stream));
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, relaxed));
    set.launch(stream);
    follow(fork, stream);
    REQUIRE_CUDA(cudaStreamDestroy(stream));
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
    set.launch(fork);
    fork.synchronize();
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("an invalidated capture is ended by any thread", "[capture]") {
    Stream stream;
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    elsewhere([&] { capture.fail(cudaErrorStreamCaptureInvalidated); });
    refuse_end(cudaErrorIllegalState, stream);
}

TEST_CASE("a missing join counts more than the wrong thread", "[capture]") {
    Stream stream;
    Stream fork;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    Capture capture(stream, mode);
    call.launch(stream);
    follow(fork, stream);
    call.launch(fork);
    elsewhere([&] { capture.fail(cudaErrorStreamCaptureUnjoined); });
    REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
}

TEST_CASE("a captured graph is a graph like any other", "[capture]") {
    Stream stream;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    Call after(store, data.data(), 1, 2);
    Capture capture(stream);
    set.launch(stream);
    const cudaGraph_t graph = capture.end();
    const cudaGraphNode_t first = nodes_of(graph).at(0);
    add_kernel(graph, after, {first});
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    REQUIRE_CUDA(cudaGraphDestroyNode(first));
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{poison, 2});
    Exec(clone).run(stream);
    REQUIRE(data.read() == std::vector{1, 2});
}

TEST_CASE("an executable graph is updated from a captured one", "[capture][exec_update]") {
    Stream stream;
    DeviceInts data(2);
    const auto record = [&](int value) {
        Call set(store, data.data(), 0, value);
        set.launch(stream);
        REQUIRE_CUDA(cudaMemsetAsync(data.data() + 1, value, 4, stream));
    };
    Capture first(stream);
    record(1);
    const Exec exec(first.end());
    Capture second(stream);
    record(2);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, second.end(), &info));
    exec.run(stream);
    REQUIRE(data.read() == std::vector{2, 0x02020202});
}
