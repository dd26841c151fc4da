// Streams of several devices are ordered, also where CUDA does not tell of which device a stream is.
#include "cuda/device_guard.hpp"
#include "fake_driver.hpp"
#include "several_devices.hpp"
#include "stream/stream_order.hpp"

#include <cudag/error.hpp>
#include <cudag/stream.hpp>

#include <cudart_cpu/control.hpp>

#include "catch.hpp"

#include <cstdint>

using cudag::Stream;
using cudag::detail::order_streams;
using cudag::detail::OrderResult;

namespace {

struct WithoutContexts : FakeDriver {
    WithoutContexts() {
        calls.stream_get_ctx = [](CUstream, CUcontext*) { return CUDA_ERROR_NOT_SUPPORTED; };
    }
};

bool is_captured(const Stream& stream) {
    cudaStreamCaptureStatus status{};
    cudag::check(cudaStreamIsCapturing(stream.get(), &status));
    return status == cudaStreamCaptureStatusActive;
}

/// Ends the capture of `stream`, which `forked` may have joined, and drops what was captured.
void end_capture(const Stream& stream) {
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
    static_cast<void>(cudaGetLastError());
    if (graph != nullptr) cudag::check(cudaGraphDestroy(graph));
}

/// Whether `after` is captured with `before`, whichever device is current.
void check_ordered(int current) {
    CAPTURE(current);
    cudag::check(cudaSetDevice(0));
    const Stream before, after;
    cudag::check(cudaSetDevice(current));
    cudag::check(cudaStreamBeginCapture(before.get(), cudaStreamCaptureModeThreadLocal));
    const OrderResult result = order_streams(before.get(), after.get());
    CHECK(result.status == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(is_captured(before));
    CHECK(is_captured(after));
    int device = -1;
    cudag::check(cudaGetDevice(&device));
    CHECK(device == current);
    end_capture(before);
}

} // namespace

TEST_CASE("a stream comes after another one, whichever device is current", "[core][stream]") {
    check_ordered(0);
    const SeveralDevices devices(2);
    check_ordered(0);
    check_ordered(1);
}

TEST_CASE("a stream of an unknown context is ordered on the device that takes its event", "[core][stream]") {
    const SeveralDevices devices(2);
    const WithoutContexts driver;
    check_ordered(0);
    check_ordered(1);
}

TEST_CASE("a call that fails while streams are ordered is tried on no other device", "[core][stream]") {
    const SeveralDevices devices(2);
    const WithoutContexts driver;
    const Stream before, after;
    const auto failing = [&](std::uint64_t call, cudaError_t code) {
        cudart_cpu::fail_call(call, code);
        const OrderResult result = order_streams(before.get(), after.get());
        cudart_cpu::fail_call(0, cudaSuccess);
        static_cast<void>(cudaGetLastError());
        CHECK(result.status == code);
        return std::string(result.operation);
    };
    CHECK(order_streams(before.get(), after.get()).status == cudaSuccess); // calls that a process makes once
    CHECK(failing(1, cudaErrorMemoryAllocation) == "cudaGetDeviceCount");
    CHECK(failing(2, cudaErrorMemoryAllocation) == "cudaEventCreateWithFlags");
    CHECK(failing(3, cudaErrorMemoryAllocation) == "cudaEventRecord");
    CHECK(failing(4, cudaErrorMemoryAllocation) == "cudaStreamWaitEvent");
}
