// How far the launches in a Stream have come, while it is there, while it is captured, and when it has gone.
#include "owners/stream_clock.hpp"

#include "catch.hpp"

#include <cudag/error.hpp>
#include <cudag/stream.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

using cudag::check;
using cudag::Stream;
using cudag::detail::StreamClock;

namespace {

/// Holds a stream up until it is opened, at the latest when it is destroyed.
class Bar {
  public:
    explicit Bar(const Stream& stream) {
        check(cudaLaunchHostFunc(stream.get(), wait, new std::shared_ptr<std::atomic<bool>>(closed_)));
    }
    ~Bar() { open(); }
    Bar(const Bar&) = delete;
    Bar& operator=(const Bar&) = delete;

    void open() {
        *closed_ = false;
        closed_->notify_all();
    }

  private:
    static void CUDART_CB wait(void* data) {
        const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> closed(
            static_cast<std::shared_ptr<std::atomic<bool>>*>(data));
        (*closed)->wait(true);
    }

    std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(true); ///< outlives the wait
};

std::shared_ptr<StreamClock> clock_of(const Stream& stream) {
    return StreamClock::of(stream.get());
}

/// What CUDA notes is seen a little after it has happened.
bool reaches(StreamClock& clock, std::uint64_t number) {
    for (int i = 0; i < 2000; ++i) {
        if (clock.has_reached(number)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

void capture_for_a_while(const Stream& stream, auto&& work) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    work();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph));
    check(cudaGraphDestroy(graph));
}

} // namespace

TEST_CASE("a Stream has a clock as long as it exists, and other streams have none", "[clock]") {
    std::optional<Stream> stream(std::in_place);
    const cudaStream_t handle = stream->get();
    const auto clock = clock_of(*stream);
    REQUIRE(clock != nullptr);
    Stream moved = *std::move(stream);
    CHECK(clock_of(moved) == clock);
    CHECK(clock->is_open());
    moved = Stream();
    CHECK_FALSE(clock->is_open());
    CHECK(StreamClock::of(handle) != clock); // another Stream may have the handle
    CHECK(StreamClock::of(nullptr) == nullptr);
    cudaStream_t plain = nullptr;
    check(cudaStreamCreate(&plain));
    CHECK(StreamClock::of(plain) == nullptr);
    check(cudaStreamDestroy(plain));
}

TEST_CASE("a clock has reached what was launched before the stream was waited for", "[clock]") {
    const Stream stream;
    const auto clock = clock_of(stream);
    CHECK(clock->has_reached(0));
    const std::uint64_t first = clock->tick();
    const std::uint64_t second = clock->tick();
    CHECK(first == 1);
    CHECK(second == 2);
    CHECK(clock->now() == 2);
    stream.synchronize();
    CHECK(clock->has_reached(2));
}

TEST_CASE("a clock has not reached what is in flight", "[clock]") {
    const Stream stream;
    const auto clock = clock_of(stream);
    Bar bar(stream);
    const std::uint64_t held = clock->tick();
    const bool is_marked = GENERATE(false, true);
    if (is_marked) clock->mark(held);
    CHECK_FALSE(clock->has_reached(held));
    CHECK_FALSE(clock->has_reached(held));
    bar.open();
    CHECK(reaches(*clock, held));
}

TEST_CASE("what was marked is reached while later launches run", "[clock]") {
    const Stream stream;
    const auto clock = clock_of(stream);
    Bar first(stream);
    const std::uint64_t early = clock->tick();
    clock->mark(early);
    Bar second(stream);
    const std::uint64_t late = clock->tick();
    clock->mark(late);
    CHECK_FALSE(clock->has_reached(early));
    first.open();
    CHECK(reaches(*clock, early));
    CHECK_FALSE(clock->has_reached(late));
    second.open();
    CHECK(reaches(*clock, late));
}

TEST_CASE("waiting for a launch waits for it, and not for what comes later", "[clock]") {
    const Stream stream;
    const auto clock = clock_of(stream);
    Bar first(stream);
    const std::uint64_t early = clock->tick();
    clock->mark(early);
    Bar second(stream);
    static_cast<void>(clock->tick());
    std::thread opens([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        first.open();
    });
    clock->wait_for(early);
    CHECK(clock->has_reached(early));
    CHECK_FALSE(clock->has_reached(clock->now()));
    opens.join();
    second.open();
    clock->wait_for(clock->now());
    CHECK(clock->has_reached(clock->now()));
}

TEST_CASE("a clock goes on when its stream has gone, until all launches have ended", "[clock]") {
    std::optional<Stream> stream(std::in_place);
    const auto clock = clock_of(*stream);
    Bar bar(*stream);
    const std::uint64_t held = clock->tick();
    stream.reset();
    CHECK_FALSE(clock->is_open());
    CHECK_FALSE(clock->has_reached(held));
    bar.open();
    clock->wait_for(held);
    CHECK(clock->has_reached(held));
}

TEST_CASE("a clock leaves a capture of its stream as it is, and goes on after it", "[clock]") {
    const Stream stream;
    const auto clock = clock_of(stream);
    const std::uint64_t before = clock->tick();
    capture_for_a_while(stream, [&] {
        clock->mark(before);
        CHECK_FALSE(clock->has_reached(before));
        clock->wait_for(before);
        CHECK_FALSE(clock->has_reached(before));
    });
    CHECK(reaches(*clock, before));
    CHECK(cudaGetLastError() == cudaSuccess);
}
