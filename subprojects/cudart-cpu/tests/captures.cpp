// Captures: nothing runs before the launch, and an ended or dropped capture leaves nothing behind.
#include "check.hpp"
#include "kernels.cuh"

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

#include <atomic>
#include <thread>

namespace {

struct Stream {
    explicit Stream(unsigned flags = cudaStreamNonBlocking) { CHECK_OK(cudaStreamCreateWithFlags(&handle, flags)); }
    Stream(const Stream&) = delete;
    ~Stream() { CHECK_OK(cudaStreamDestroy(handle)); }

    cudaStream_t handle;
};

struct Event {
    Event() { CHECK_OK(cudaEventCreate(&handle)); }
    Event(const Event&) = delete;
    ~Event() { CHECK_OK(cudaEventDestroy(handle)); }

    cudaEvent_t handle;
};

void begin(const Stream& stream) {
    CHECK_OK(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
}

void launch_produce(const Stream& stream, int* cell, int value) {
    void* args[] = {&cell, &value};
    CHECK_OK(cudaLaunchKernel(reinterpret_cast<const void*>(produce), 1, 1, args, 0, stream.handle));
}

std::size_t node_count(cudaGraph_t graph) {
    std::size_t count = 0;
    CHECK_OK(cudaGraphGetNodes(graph, nullptr, &count));
    return count;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
    cudaStreamCaptureStatus status;
    CHECK_OK(cudaStreamIsCapturing(stream.handle, &status));
    return status;
}

void run(cudaGraph_t graph) {
    cudaGraphExec_t exec;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    const Stream stream;
    CHECK_OK(cudaGraphLaunch(exec, stream.handle));
    CHECK_OK(cudaStreamSynchronize(stream.handle));
    CHECK_OK(cudaGraphExecDestroy(exec));
}

/// Fails a capture, and ends it.
void end_invalid(const Stream& stream) {
    auto* const poison = reinterpret_cast<cudaGraph_t>(1);
    cudaGraph_t graph = poison;
    CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream.handle));
    CHECK(status_of(stream) == cudaStreamCaptureStatusInvalidated);
    CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream.handle, &graph));
    CHECK(status_of(stream) == cudaStreamCaptureStatusNone);
    CHECK(graph == nullptr || graph == poison);
}

void captured_work_runs_with_the_launch() {
    int* cell;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&cell), sizeof *cell, cudaMemAttachGlobal));
    *cell = 0;
    {
        const Stream stream;
        const Stream fork;
        const Event forked;
        const Event joined;
        begin(stream);
        launch_produce(stream, cell, 7);
        CHECK_OK(cudaEventRecord(forked.handle, stream.handle));
        CHECK_OK(cudaStreamWaitEvent(fork.handle, forked.handle, 0));
        CHECK_OK(cudaMemsetAsync(cell, 1, 1, fork.handle));
        CHECK_OK(cudaEventRecord(joined.handle, fork.handle));
        CHECK_OK(cudaStreamWaitEvent(stream.handle, joined.handle, 0));
        cudaGraph_t graph;
        CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
        CHECK(node_count(graph) == 2);
        CHECK(*cell == 0);
        run(graph);
        CHECK(*cell == 1);
        CHECK_OK(cudaGraphDestroy(graph));
    }
    CHECK_OK(cudaFree(cell));
}

void a_failed_capture_leaves_no_graph() {
    const Stream stream;
    const std::size_t before = cudart_cpu::live().graphs;
    begin(stream);
    CHECK(cudart_cpu::live().graphs == before + 1);
    end_invalid(stream);
    CHECK(cudart_cpu::live().graphs == before);
    begin(stream);
    cudaGraph_t graph;
    CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
    CHECK(node_count(graph) == 0);
    CHECK_OK(cudaGraphDestroy(graph));
}

void a_stream_that_goes_takes_its_capture_with_it() {
    const std::size_t before = cudart_cpu::live().graphs;
    {
        const Stream stream;
        begin(stream);
    }
    CHECK(cudart_cpu::live().graphs == before);
    std::thread([] { CHECK_OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal)); }).join();
    CHECK(cudart_cpu::live().graphs == before);
    void* memory;
    CHECK_OK(cudaMalloc(&memory, 1));
    CHECK_OK(cudaFree(memory));
}

void a_graph_of_the_caller_outlives_an_end_that_wants_none() {
    const Stream stream;
    const std::size_t before = cudart_cpu::live().graphs;
    cudaGraph_t graph;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaStreamBeginCaptureToGraph(stream.handle, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    launch_produce(stream, nullptr, 0);
    CHECK_OK(cudaStreamEndCapture(stream.handle, nullptr));
    CHECK(node_count(graph) == 1);
    CHECK_OK(cudaGraphDestroy(graph));
    begin(stream);
    CHECK_OK(cudaStreamEndCapture(stream.handle, nullptr));
    CHECK(cudart_cpu::live().graphs == before);
}

void a_body_that_a_capture_fills_may_lose_its_node() {
    const Stream stream;
    cudaGraph_t graph;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    CHECK_OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
    CHECK_OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
#else
    CHECK_OK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
#endif
    CHECK_OK(cudaStreamBeginCaptureToGraph(stream.handle, params.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                           cudaStreamCaptureModeRelaxed));
    CHECK_OK(cudaGraphDestroy(graph));
    launch_produce(stream, nullptr, 0);
    CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
}

void a_graph_whose_body_was_lost_cannot_be_instantiated() {
    const Stream stream;
    cudaGraph_t graph;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaGraph_t empty;
    CHECK_OK(cudaGraphCreate(&empty, 0));
    cudaGraphNode_t node;
    CHECK_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, empty));
    cudaGraph_t child;
    CHECK_OK(cudaGraphChildGraphNodeGetGraph(node, &child));
    CHECK_OK(cudaStreamBeginCaptureToGraph(stream.handle, child, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    end_invalid(stream);
    std::size_t count = 0;
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphGetNodes(child, nullptr, &count));
    CHECK(node_count(graph) == 1);
    cudaGraphExec_t exec;
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaGraphDestroy(empty));
}

void captured_nodes_belong_to_the_device_of_the_stream() {
    cudart_cpu::set_devices(2);
    int* cell;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&cell), sizeof *cell, cudaMemAttachGlobal));
    {
        const Stream stream;
        const Event event;
        CHECK_OK(cudaSetDevice(1));
        const Stream other;
        CHECK_OK(cudaSetDevice(0));
        begin(stream);
        launch_produce(stream, cell, 1);
        CHECK_OK(cudaEventRecord(event.handle, stream.handle));
        CHECK_OK(cudaStreamWaitEvent(other.handle, event.handle, 0));
        CHECK_OK(cudaMemsetAsync(cell, 0, 4, other.handle));
        int current = -1;
        CHECK_OK(cudaGetDevice(&current));
        CHECK(current == 0);
        CHECK_OK(cudaSetDevice(1));
        const Event of_other;
        CHECK_OK(cudaEventRecord(of_other.handle, other.handle));
        CHECK_OK(cudaSetDevice(0));
        CHECK_OK(cudaStreamWaitEvent(stream.handle, of_other.handle, 0));
        cudaGraph_t graph;
        CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
        cudaGraphInstantiateParams params{};
        params.flags = cudaGraphInstantiateFlagDeviceLaunch;
        cudaGraphExec_t exec;
        CHECK_CODE(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, &params));
        CHECK(params.result_out == cudaGraphInstantiateMultipleDevicesNotSupported);
        CHECK_OK(cudaGraphDestroy(graph));
    }
    CHECK_OK(cudaFree(cell));
}

void a_refused_call_leaves_the_capture_and_its_memory_as_they_were() {
    const Stream stream;
    const std::size_t before = cudart_cpu::live().device_allocations;
    begin(stream);
    void* memory = nullptr;
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_CODE(cudaErrorMemoryAllocation, cudaMallocAsync(&memory, 100, stream.handle));
    CHECK(status_of(stream) == cudaStreamCaptureStatusActive);
    CHECK_OK(cudaMallocAsync(&memory, 100, stream.handle));
    CHECK_CODE(cudaErrorInvalidValue, cudaFreeAsync(&memory, stream.handle));
    CHECK_OK(cudaFreeAsync(memory, stream.handle));
    cudaGraph_t graph;
    CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
    CHECK(node_count(graph) == 2);
    run(graph);
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaDeviceGraphMemTrim(0));
    CHECK(cudart_cpu::live().device_allocations == before);
}

/// Threads that capture, and one that makes events and queries: for a sanitizer to look at.
void threads_capture_side_by_side() {
    std::atomic<bool> done{false};
    std::thread observer([&] {
        const Event event;
        const Stream stream;
        while (!done) {
            CHECK_OK(cudaEventRecord(event.handle, stream.handle));
            const cudaError_t answer = cudaEventQuery(event.handle);
            CHECK(answer == cudaSuccess || answer == cudaErrorNotReady);
            CHECK(status_of(stream) == cudaStreamCaptureStatusNone);
        }
    });
    const auto capture = [] {
        for (int i = 0; i < 50; ++i) {
            const Stream stream;
            const Stream fork;
            const Event forked;
            const Event joined;
            begin(stream);
            launch_produce(stream, nullptr, 0);
            CHECK_OK(cudaEventRecord(forked.handle, stream.handle));
            CHECK_OK(cudaStreamWaitEvent(fork.handle, forked.handle, 0));
            launch_produce(fork, nullptr, 0);
            CHECK_OK(cudaEventRecord(joined.handle, fork.handle));
            CHECK_OK(cudaStreamWaitEvent(stream.handle, joined.handle, 0));
            cudaGraph_t graph;
            CHECK_OK(cudaStreamEndCapture(stream.handle, &graph));
            CHECK(node_count(graph) == 2);
            CHECK_OK(cudaGraphDestroy(graph));
        }
    };
    std::thread first(capture);
    std::thread second(capture);
    first.join();
    second.join();
    done = true;
    observer.join();
}

} // namespace

int main() {
    cudart_cpu::register_kernel(produce);
    captured_work_runs_with_the_launch();
    a_failed_capture_leaves_no_graph();
    a_stream_that_goes_takes_its_capture_with_it();
    a_graph_of_the_caller_outlives_an_end_that_wants_none();
    a_body_that_a_capture_fills_may_lose_its_node();
    a_graph_whose_body_was_lost_cannot_be_instantiated();
    a_refused_call_leaves_the_capture_and_its_memory_as_they_were();
    threads_capture_side_by_side();
    captured_nodes_belong_to_the_device_of_the_stream();
}
