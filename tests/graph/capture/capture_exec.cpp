// Launches of an Exec into a stream that is captured: no mode allows them.
#include <utility>

#include "test.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::Exec;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// Refused by CUDA as a launch, with the way out; the capture is broken, the Exec and the stream are not.
void launch_while_captured(Exec& exec) {
    const Stream stream;
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    StreamCapture capture(stream, {.mode = mode});
    const auto error = refused<CaptureError>([&] { exec.launch(stream); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.operation() == "cuGraphLaunch");
    CHECK_THAT(error.what(), ContainsSubstring("make the graph a child node instead"));
    CHECK(capture.status() == CaptureStatus::invalidated);
    refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    run(exec, stream);
}

} // namespace

TEST_CASE("an Exec that is launched into a captured stream is refused with the way out", "[capture][exec][errors]") {
    const auto cell = device({0});
    GraphBuilder b;
    b.kernel({}, store, cell.data(), 5);
    Exec exec = std::move(b).build().instantiate();
    launch_while_captured(exec);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("an Exec that keeps owners is refused by a captured stream in the same way", "[capture][exec][errors]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, cudag::DeviceBuffer<int>(1), 4);
    Exec exec = std::move(b).build().instantiate();
    exec.update(node, cell, 5); // from here on it tracks its launches
    launch_while_captured(exec);
    CHECK(read(cell) == std::vector{5});
}
