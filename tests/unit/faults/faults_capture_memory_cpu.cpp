// Every runtime call that fails in pools and scalars.
#include "allocation_faults.hpp"
#include "capture_mode.hpp"
#include "faults.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace {

void check_throws(const Faults& faults) {
    CHECK(faults.thrown > 0);
    CHECK(faults.ignored == 0);
}

void set_capture_mode(cudaStreamCaptureMode mode) {
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
}

} // namespace

TEST_CASE("a pool that CUDA cannot make is not made, and the thread's capture mode is as it was", "[unit][faults]") {
    const NothingLeft check;
    const cudaStreamCaptureMode mode = capture_mode();
    unsigned changed = 0;
    const Faults faults = for_every_call_failing([] { return cudag::CapturePool(); },
                                                 [&] {
                                                     changed += capture_mode() == mode ? 0U : 1U;
                                                     set_capture_mode(mode);
                                                 });
    CHECK(faults.thrown == 4);
    CHECK(faults.ignored == 2); // the mode may stay, or not come back, where nothing is captured
    CHECK(changed <= 1);        // nothing helps where the call that restores it fails
}

TEST_CASE("an allocation that fails leaves a pool as it was", "[unit][faults]") {
    const NothingLeft check;
    cudag::CapturePool pool;
    const auto first = pool.allocate<int>(100);
    std::size_t reserved = pool.reserved_bytes();
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([&] { return pool.allocate<char>(reserved + 1); },
                                                 [&] {
                                                     CHECK(pool.count() == 1);
                                                     CHECK(pool.bytes() == 400);
                                                     reserved = pool.reserved_bytes();
                                                     set_capture_mode(mode);
                                                 });
    CHECK(faults.thrown > 0);
    const auto second = pool.allocate<int>(100);
    CHECK(pool.count() == 2);
}

TEST_CASE("memory that came back to a pool needs no call of CUDA", "[unit][faults]") {
    cudag::CapturePool pool;
    static_cast<void>(pool.allocate<int>(100));
    const std::uint64_t before = cudart_cpu::call_count();
    static_cast<void>(pool.allocate<int>(50));
    CHECK(cudart_cpu::call_count() == before);
}

TEST_CASE("a pool ignores failures at its end", "[unit][faults]") {
    const cudaStreamCaptureMode mode = capture_mode();
    std::unique_ptr<cudag::CapturePool> pool;
    const Faults faults = for_every_call_failing([&] { pool.reset(); }, [&] { set_capture_mode(mode); },
                                                 [&] {
                                                     pool = std::make_unique<cudag::CapturePool>();
                                                     static_cast<void>(pool->allocate<int>(100));
                                                 });
    CHECK(faults.thrown == 0);
    CHECK(faults.ignored == 6);
}

TEST_CASE("pools leave nothing, whichever of pool, buffer and graph goes first", "[unit][leaks]") {
    const NothingLeft check;
    std::optional<cudag::CapturePool> pool(std::in_place);
    std::optional buffer = pool->allocate<int>(100);
    cudag::GraphBuilder b;
    b.memset(pool->allocate<int>(100), 1);
    std::optional<cudag::Graph> graph = std::move(b).build();
    const auto order = GENERATE(0, 1, 2);
    for (int i = 0; i < 3; ++i) {
        const int which = (order + i) % 3;
        if (which == 0) pool.reset();
        if (which == 1) buffer.reset();
        if (which == 2) graph.reset();
    }
}

TEST_CASE("a scalar that CUDA cannot make or set keeps what it has", "[unit][faults]") {
    static_cast<void>(cudag::DeviceScalar<float>(1.0f)); // what CUDA is asked once is known from here on
    const Faults made = for_every_call_failing([] { return cudag::DeviceScalar<float>(1.0f); });
    CHECK(made.thrown > 0);
    CHECK(made.ignored == 1); // the end of the stream that it is set in
    const NothingLeft check;
    const cudag::Stream stream;
    cudag::DeviceScalar<int> scalar(3);
    check_throws(for_every_call_failing([&] { scalar.set(4, stream); }, [&] { CHECK(scalar.get(stream) == 3); }));
    CHECK(scalar.get(stream) == 4);
    check_throws(for_every_call_failing([&] { return scalar.get(stream); }));
}

TEST_CASE("a scalar whose value takes several calls has the old one, or the new one, whichever fails",
          "[unit][faults]") {
    struct Value {
        int a, b, c;
        bool operator==(const Value&) const = default;
    };
    const cudag::Stream stream;
    const Value before{1, 2, 3};
    cudag::DeviceScalar<Value> scalar(before);
    const Faults faults = for_every_call_failing(
        [&] {
            scalar.set({4, 4, 5}, stream);
        },
        [&] { CHECK(scalar.get(stream) == before); });
    CHECK(faults.thrown == 4); // the question about captures, two fills and a copy
    CHECK(faults.ignored == 0);
    CHECK(scalar.get(stream) == Value{4, 4, 5});
}

TEST_CASE("a pool has a block back if memory for its owner is missing", "[unit][pool][faults]") {
    cudag::CapturePool pool;
    std::size_t failed = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        std::optional<cudag::DeviceBuffer<int>> buffer;
        if (!fails_without_allocation(n, [&] { buffer = pool.allocate<int>(4); })) break;
        ++failed;
        CHECK_FALSE(buffer);
        CHECK(pool.count() == 0);
        CHECK(pool.bytes() == 0);
    }
    CHECK(failed >= 2); // the block, its owner
    CHECK(pool.allocate<int>(4).size() == 4);
}
