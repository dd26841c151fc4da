// Captures, forks and launches in streams of another device than the current one.
#include <memory>

#include "test.hpp"

using cudag::capture;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::launch;
using cudag::Steps;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

int current() {
    int device = -1;
    check(cudaGetDevice(&device));
    return device;
}

bool skipped_with_one_device() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    if (count >= 2) return false;
    WARN("skipped: it needs two devices, and there is one");
    return true;
}

/// Makes device 1 current for a while.
struct OnSecond {
    OnSecond() { check(cudaSetDevice(1)); }
    ~OnSecond() { cudaSetDevice(0); }
    OnSecond(const OnSecond&) = delete;
    OnSecond& operator=(const OnSecond&) = delete;
};

/// A stream and memory of device 1.
struct Second {
    OnSecond while_made = {};
    Stream stream;
    cudag::DeviceBuffer<int> cells = device({0, 0});
};

std::unique_ptr<Second> second() {
    auto made = std::make_unique<Second>();
    check(cudaSetDevice(0));
    return made;
}

std::vector<int> read_there(const Second& there) {
    const OnSecond here;
    return read(there.cells);
}

} // namespace

TEST_CASE("a capture forks to a stream of another device, and joins it", "[capture][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    const Stream stream;
    const auto cells = device({0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(stream, {}, store, cells.data(), 1);
        c.fork(there->stream);
        CHECK(current() == 0);
        {
            const OnSecond here;
            launch(there->stream, {}, store, there->cells.data(), 2);
        }
        launch(there->stream, {}, store, there->cells.data() + 1, 3); // while device 0 is current
        c.join(there->stream);
        CHECK(current() == 0);
        c.fork(there->stream);
        cudag::memset_async(there->stream, cudag::DeviceSpan<int>(there->cells.data(), 1), 4);
        c.join(there->stream);
        launch(stream, {}, add, cells.data(), cells.data(), 5);
    });
    CHECK(graph.node_count() == 5);
    Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{6});
    CHECK(read_there(*there) == std::vector{4, 3});
}

TEST_CASE("a stream of another device than the current one is captured with its forks", "[capture][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    const Stream side;
    const auto cells = device({0});
    const auto into = [&](StreamCapture& c) {
        launch(there->stream, {}, store, there->cells.data(), 2);
        c.fork(side);
        launch(side, {}, store, cells.data(), 1);
        c.join(side);
        launch(there->stream, {}, store, there->cells.data() + 1, 3);
    };
    SECTION("as a graph") {
        Exec exec = capture(there->stream, into, {.refuse_legacy_stream = true}).instantiate();
        exec.launch(there->stream);
    }
    SECTION("as a region") {
        cudag::GraphBuilder b;
        b.capture(there->stream, into);
        Exec exec = std::move(b).build().instantiate();
        exec.launch(there->stream);
    }
    there->stream.synchronize();
    CHECK(current() == 0);
    CHECK(read(cells) == std::vector{1});
    CHECK(read_there(*there) == std::vector{2, 3});
}

TEST_CASE("a stream of another device that an event forked is joined by the capture", "[capture][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    const Stream stream;
    const Event event({.timing = false});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(stream, {}, nothing);
        check(cudaEventRecord(event.get(), stream.get()));
        check(cudaStreamWaitEvent(there->stream.get(), event.get(), 0));
        launch(there->stream, {}, store, there->cells.data(), 2);
        c.join(there->stream);
    });
    Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read_there(*there).front() == 2);
}

TEST_CASE("steps fork to another device eagerly, too", "[capture][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    const Stream stream;
    cudag::CaptureCache cache({.warm_up = 1});
    for (int i = 0; i < 4; ++i)
        cache.run(stream, 1, [&](Steps& steps) {
            steps.fork(there->stream);
            launch(there->stream, {}, add, there->cells.data(), there->cells.data(), 1);
            steps.join(there->stream);
        });
    stream.synchronize();
    CHECK(read_there(*there).front() == 4);
    CHECK(cache.stats().captures == 1);
}

TEST_CASE("kernels are launched in a stream of another device", "[stream][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    launch(there->stream, {}, store, there->cells.data(), 7);
    launch(there->stream, {.cooperative = true}, store, there->cells.data() + 1, 8);
    there->stream.synchronize();
    CHECK(current() == 0);
    CHECK(read_there(*there) == std::vector{7, 8});
}

TEST_CASE("an event of another device than the stream's is refused with the remedy", "[stream][device]") {
    if (skipped_with_one_device()) return;
    const auto there = second();
    Event event;
    const auto error = refused<cudag::Error>([&] { event.record(there->stream); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidResourceHandle));
    CHECK_THAT(error.what(), ContainsSubstring("make it while the stream's device is current"));
}
