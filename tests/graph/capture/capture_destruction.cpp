// What is destroyed while a stream is captured is gone, whatever that means for the capture.
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

bool is_freed(void* memory, cudaError_t (*free)(void*)) {
    const bool refused = free(memory) == cudaErrorInvalidValue;
    static_cast<void>(cudaGetLastError());
    return refused;
}

/// A graph that only one Exec at a time can be made of.
Graph one_exec_graph() {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(4);
    b.free(alloc.span()).after(alloc);
    return std::move(b).build();
}

} // namespace

TEST_CASE("an Exec that goes while a stream is captured breaks no capture", "[capture][lifetime]") {
    const Graph graph = one_exec_graph();
    std::optional<Exec> exec = graph.instantiate();
    const Stream stream;
    const auto cell = device({0});
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    StreamCapture capture(stream, {.mode = mode});
    cudag::launch(stream, {}, store, cell.data(), 5);
    SECTION("in the capturing thread") {
        exec.reset();
    }
    SECTION("in another thread") {
        std::async(std::launch::async, [&] { exec.reset(); }).get();
    }
    CHECK(capture.status() == CaptureStatus::active);
    const Graph captured = std::move(capture).finish();
    Exec again = graph.instantiate(); // the first is gone
    run(again, stream);
    Exec captured_exec = captured.instantiate();
    run(captured_exec, stream);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a buffer that goes while a stream is captured is freed, and breaks the capture, which may use it",
          "[capture][lifetime][buffers]") {
    const Stream stream;
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_);
    void* memory = nullptr;
    cudaError_t (*free)(void*) = nullptr;
    SECTION("in device memory") {
        std::optional<cudag::DeviceBuffer<int>> buffer(std::in_place, 16);
        memory = buffer->data();
        free = cudaFree;
        StreamCapture capture(stream, {.mode = mode});
        buffer.reset();
        CHECK(capture.status() == CaptureStatus::invalidated);
        CHECK(refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); }).code() ==
              code_of_broken(cudaErrorStreamCaptureUnsupported));
    }
    SECTION("in pinned memory") {
        std::optional<cudag::PinnedBuffer<int>> buffer(std::in_place, 16);
        memory = buffer->data();
        free = cudaFreeHost;
        StreamCapture capture(stream, {.mode = mode});
        buffer.reset();
        CHECK(capture.status() == CaptureStatus::invalidated);
        CHECK(refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); }).code() ==
              code_of_broken(cudaErrorStreamCaptureUnsupported));
    }
    CHECK(is_freed(memory, free));
}

TEST_CASE("a buffer that goes during a capture that forbids nothing is freed without harm",
          "[capture][lifetime][buffers]") {
    const Stream stream;
    auto buffer = std::make_unique<cudag::DeviceBuffer<int>>(16);
    void* const memory = buffer->data();
    StreamCapture capture(stream, {.mode = CaptureMode::relaxed, .allow_empty = true});
    buffer.reset();
    CHECK(capture.status() == CaptureStatus::active);
    static_cast<void>(std::move(capture).finish());
    CHECK(is_freed(memory, cudaFree));
}
