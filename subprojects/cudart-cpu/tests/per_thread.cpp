// Code that was compiled for per-thread default streams: its default stream is the thread's own.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "check.hpp"
#include "gate.hpp"

#include <cudart_cpu/control.hpp>

#include <thread>

namespace {

/// Another stream that is held up, and a blocking one: the legacy default stream would wait for it.
void waits_for_no_other_stream() {
    Gate gate;
    cudaStream_t other = nullptr;
    CHECK_OK(cudaStreamCreate(&other));
    gate.close(other);
    int* memory = nullptr;
    int value = 5;
    int result = 0;
    CHECK_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
    CHECK_OK(cudaMemcpyAsync(memory, &value, sizeof value, cudaMemcpyHostToDevice, nullptr));
    CHECK_OK(cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result == 5);
    CHECK_OK(cudaMemset(memory, 1, sizeof(int)));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    CHECK_OK(cudaStreamQuery(nullptr));
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(other));
    gate.open();
    CHECK_OK(cudaStreamSynchronize(other));
    CHECK_OK(cudaFree(memory));
    CHECK_OK(cudaStreamDestroy(other));
}

void is_another_in_each_thread() {
    unsigned long long id = 0;
    unsigned long long own = 0;
    unsigned long long others = 0;
    CHECK_OK(cudaStreamGetId(nullptr, &id));
    CHECK_OK(cudaStreamGetId(cudaStreamPerThread, &own));
    std::thread([&] { CHECK_OK(cudaStreamGetId(nullptr, &others)); }).join();
    CHECK(id == own);
    CHECK(id != others);
    CHECK_OK(cudaStreamGetId(cudaStreamLegacy, &others));
    CHECK(id != others);
}

void is_captured() {
    int* memory = nullptr;
    CHECK_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
    CHECK_OK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeThreadLocal));
    CHECK_OK(cudaMemsetAsync(memory, 7, sizeof(int), nullptr));
    cudaStreamCaptureStatus status{};
    CHECK_OK(cudaStreamIsCapturing(nullptr, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaStreamEndCapture(nullptr, &graph));
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    int result = 0;
    CHECK_OK(cudaMemcpyAsync(&result, memory, sizeof result, cudaMemcpyDeviceToHost, nullptr));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    CHECK(result == 0x07070707);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaFree(memory));
}

void refuses_the_same() {
    int value = 0;
    CHECK_CODE(cudaErrorInvalidValue, cudaMemsetAsync(&value, 0, sizeof value, nullptr));
    CHECK_CODE(cudaErrorInvalidValue, cudaLaunchHostFunc(nullptr, nullptr, nullptr));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr, nullptr));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

} // namespace

int main() {
    waits_for_no_other_stream();
    is_another_in_each_thread();
    is_captured();
    refuses_the_same();
}
