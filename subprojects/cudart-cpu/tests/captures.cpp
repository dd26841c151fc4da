// Captures: nothing runs before the launch, and an ended or dropped capture leaves nothing behind.
#include "check.hpp"
#include "kernels.cuh"

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

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

} // namespace

int main() {
    cudart_cpu::register_kernel(produce);
    captured_work_runs_with_the_launch();
    a_failed_capture_leaves_no_graph();
    a_stream_that_goes_takes_its_capture_with_it();
}
