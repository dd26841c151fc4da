// Every runtime call that fails in releases and restorations of pools and caches.
#include "capture_mode.hpp"
#include "faults.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <memory>
#include <utility>

namespace {

void restore_capture_mode(cudaStreamCaptureMode mode) {
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
}

void write_cell(const cudag::DeviceBuffer<int>& cell, int value) {
    REQUIRE(cudaMemcpy(cell.data(), &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess);
}

int read_cell(const cudag::DeviceBuffer<int>& cell) {
    int value = 0;
    REQUIRE(cudaMemcpy(&value, cell.data(), sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
}

} // namespace

TEST_CASE("a releasable pool that CUDA cannot make leaves nothing", "[unit][faults]") {
    const NothingLeft check;
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([] { return cudag::CapturePool("pool", {.releasable = true}); },
                                                 [&] { restore_capture_mode(mode); });
    CHECK(faults.thrown > 0);
}

TEST_CASE("an allocation that fails leaves a releasable pool as it was", "[unit][faults]") {
    const NothingLeft check;
    cudag::CapturePool pool("pool", {.releasable = true});
    const auto first = pool.allocate<int>(1);
    std::size_t reserved = pool.reserved_bytes();
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([&] { return pool.allocate<char>(reserved + 1); },
                                                 [&] {
                                                     CHECK(pool.count() == 1);
                                                     reserved = pool.reserved_bytes();
                                                     restore_capture_mode(mode);
                                                 });
    CHECK(faults.thrown > 0);
    write_cell(first, 3);
    CHECK(read_cell(first) == 3);
}

TEST_CASE("pools leave nothing, released or restored", "[unit][leaks]") {
    const NothingLeft check;
    cudag::CapturePool released("released", {.releasable = true}), restored("restored", {.releasable = true});
    const auto a = released.allocate<int>(1), b = restored.allocate<int>(1);
    restored.release();
    restored.restore();
    released.release();
}

TEST_CASE("a release that fails leaves the memory in place, and launches go on", "[unit][faults]") {
    const cudag::Stream stream;
    cudag::CapturePool pool("pool", {.releasable = true});
    const auto cell = pool.allocate<int>(1);
    const auto large = pool.allocate<char>(pool.reserved_bytes() + 1); // a second piece
    cudag::GraphBuilder b;
    b.memset(cell, 5);
    cudag::Exec exec = std::move(b).build().instantiate();
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([&] { pool.release(); },
                                                 [&] {
                                                     restore_capture_mode(mode);
                                                     if (pool.is_released()) return; // an ignored failure
                                                     CHECK(read_cell(cell) == 3);
                                                     exec.launch(stream);
                                                     stream.synchronize();
                                                     CHECK(read_cell(cell) == 5);
                                                 },
                                                 [&] {
                                                     pool.restore();
                                                     write_cell(cell, 3);
                                                 });
    CHECK(faults.thrown > 0);
    CHECK(pool.is_released());
    pool.restore();
    CHECK(read_cell(cell) == 3);
}

TEST_CASE("a restoration that fails leaves the pool released, and can be repeated", "[unit][faults]") {
    const cudag::Stream stream;
    cudag::CapturePool pool("pool", {.releasable = true});
    const auto cell = pool.allocate<int>(1);
    const auto large = pool.allocate<char>(pool.reserved_bytes() + 1);
    cudag::GraphBuilder b;
    b.memset(cell, 5);
    cudag::Exec exec = std::move(b).build().instantiate();
    write_cell(cell, 3);
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([&] { pool.restore(); },
                                                 [&] {
                                                     restore_capture_mode(mode);
                                                     if (!pool.is_released()) return;
                                                     CHECK_THROWS_AS(exec.launch(stream), cudag::Error);
                                                 },
                                                 [&] { pool.release(); });
    CHECK(faults.thrown > 0);
    CHECK_FALSE(pool.is_released());
    CHECK(read_cell(cell) == 3);
}

TEST_CASE("a cache that cannot release one pool restores the others", "[unit][faults]") {
    const cudag::Stream stream;
    cudag::CapturePool first("first", {.releasable = true}), second("second", {.releasable = true});
    const auto a = first.allocate<int>(1), b = second.allocate<int>(1);
    cudag::GraphBuilder builder;
    builder.memset(a, 1);
    builder.memset(b, 2);
    const cudag::Graph graph = std::move(builder).build();
    cudag::ExecCache cache;
    cache.launch(graph, stream);
    const cudaStreamCaptureMode mode = capture_mode();
    bool is_released = false;
    const Faults faults = for_every_call_failing(
        [&] {
            cache.release_memory();
            is_released = true;
        },
        [&] {
            restore_capture_mode(mode);
            CHECK(first.is_released() == is_released);
            CHECK(second.is_released() == is_released);
        },
        [&] {
            cache.restore_memory();
            is_released = false;
        });
    CHECK(faults.thrown > 0);
    cache.restore_memory();
    CHECK(read_cell(a) == 1);
    CHECK(read_cell(b) == 2);
}

TEST_CASE("a cache that cannot release graph memory leaves its pools in place", "[unit][faults]") {
    const cudag::Stream stream;
    cudag::CapturePool pool("pool", {.releasable = true});
    const auto cell = pool.allocate<int>(1);
    cudag::GraphBuilder builder;
    builder.memset(cell, 1);
    const auto memory = builder.alloc<int>(1);
    builder.free(memory).after(memory);
    const cudag::Graph graph = std::move(builder).build();
    cudag::ExecCache cache;
    const cudaStreamCaptureMode mode = capture_mode();
    bool is_released = false;
    const Faults faults = for_every_call_failing(
        [&] {
            cache.release_memory();
            is_released = true;
        },
        [&] {
            restore_capture_mode(mode);
            CHECK(pool.is_released() == is_released);
        },
        [&] {
            cache.restore_memory();
            cache.launch(graph, stream); // reserves graph memory
            stream.synchronize();
            is_released = false;
        });
    CHECK(faults.thrown > 0);
    cudag::trim_graph_memory(0);
}

TEST_CASE("a cache that cannot restore one pool can repeat the restoration", "[unit][faults]") {
    const NothingLeft check;
    const cudag::Stream stream;
    cudag::CapturePool first("first", {.releasable = true}), second("second", {.releasable = true});
    const auto a = first.allocate<int>(1), b = second.allocate<int>(1);
    write_cell(a, 3);
    write_cell(b, 4);
    cudag::GraphBuilder builder;
    builder.memset(a, 1);
    builder.memset(b, 2);
    const cudag::Graph graph = std::move(builder).build();
    cudag::ExecCache cache;
    cache.launch(graph, stream);
    const cudaStreamCaptureMode mode = capture_mode();
    const Faults faults = for_every_call_failing([&] { cache.restore_memory(); },
                                                 [&] {
                                                     restore_capture_mode(mode);
                                                     if (first.is_released() || second.is_released())
                                                         CHECK_THROWS_AS(cache.launch(graph, stream), cudag::Error);
                                                     cache.restore_memory();
                                                     CHECK(read_cell(a) == 1);
                                                     CHECK(read_cell(b) == 2);
                                                 },
                                                 [&] {
                                                     stream.synchronize();
                                                     cache.release_memory();
                                                 });
    CHECK(faults.thrown > 0);
    CHECK_FALSE(first.is_released());
    CHECK_FALSE(second.is_released());
}
