// CaptureCache: what runs eagerly, is captured and replayed, and what it says about that.
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include <cudag/format.hpp>

#include "graphed.hpp"

using cudag::CaptureCache;
using cudag::CaptureCacheStats;
using cudag::check;
using cudag::KeyState;
using cudag::launch;
using cudag::RunKind;
using cudag::Steps;
using cudag::Stream;

namespace {

/// Work that the device counts, and the host counts the calls of.
struct Work {
    cudag::DeviceBuffer<int> cell = device({0});
    int calls = 0;
    bool breaks = false;
    bool throws = false;

    auto function(int by = 1) {
        return [this, by](Steps& steps) {
            ++calls;
            steps.step("count", [&](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), by); });
            const auto wait = [&](cudaStream_t s) {
                if (breaks) check(cudaStreamSynchronize(s));
            };
            steps.step("converged?", wait, {.allow_empty = true});
            if (throws) throw std::out_of_range("half-way");
        };
    }
    [[nodiscard]] int counted(const Stream& stream) const { return read(stream, cell.span()).front(); }
};

} // namespace

TEST_CASE("a key runs eagerly until it is warm, is captured, and replayed from then on", "[capture][cache]") {
    Work work;
    const Stream stream;
    const unsigned warm_up = GENERATE(0U, 1U, 2U, 5U);
    CaptureCache cache({.warm_up = warm_up});
    for (unsigned run = 0; run < 8; ++run) {
        const RunKind kind = cache.run(stream, "count", work.function());
        CHECK(kind == (run < warm_up ? RunKind::eager : run == warm_up ? RunKind::captured : RunKind::replayed));
        CHECK(work.counted(stream) == static_cast<int>(run) + 1);
    }
    CHECK(work.calls == static_cast<int>(warm_up) + 1);
    CaptureCacheStats expected{warm_up, 1, 0, 7 - warm_up, 0, 1, 1};
    expected.bytes = cache.stats().bytes;
    CHECK(cache.stats() == expected);
}

TEST_CASE("by default two calls warm a key up", "[capture][cache]") {
    Work work;
    const Stream stream;
    CaptureCache cache;
    for (const RunKind kind : {RunKind::eager, RunKind::eager, RunKind::captured, RunKind::replayed})
        CHECK(cache.run(stream, 1, work.function()) == kind);
    CHECK(work.counted(stream) == 4);
}

TEST_CASE("a replay is of what was captured, in whichever stream", "[capture][cache]") {
    const auto cells = device({0, 0});
    const Stream first, second;
    CaptureCache cache({.warm_up = 0});
    int value = 4;
    const auto function = [&](cudaStream_t s) { launch(s, {}, store, cells.data(), value); };
    cache.run(first, 1, function);
    first.synchronize();
    value = 5;
    write(cells.span(), {0, 0});
    CHECK(cache.run(second, 1, function) == RunKind::replayed);
    CHECK(read(second, cells.span()) == std::vector{4, 0});
    CHECK(cache.forget(1));
    CHECK(cache.run(second, 1, function) == RunKind::captured);
    CHECK(read(second, cells.span()) == std::vector{5, 0});
    CHECK_FALSE(cache.forget(2));
}

TEST_CASE("what cannot be captured runs eagerly, each call once, and the report says in which step and why",
          "[capture][cache]") {
    Work work;
    work.breaks = true;
    const Stream stream;
    const unsigned retries = GENERATE(0U, 1U, 3U);
    CaptureCache cache({.warm_up = 1, .retries = retries});
    for (int run = 0; run < 10; ++run) {
        CHECK(cache.run(stream, std::tuple(4, 128), work.function()) == RunKind::eager);
        CHECK(work.counted(stream) == run + 1);
    }
    CHECK(cache.stats() == CaptureCacheStats{10, 0, retries + 1, 0, 0, 1, 0});
    CHECK(work.calls == 10 + static_cast<int>(retries) + 1);
    const cudag::CaptureCacheReport report = cache.report();
    REQUIRE(report.keys.size() == 1);
    const cudag::KeyReport& key = report.keys.front();
    CHECK(key.key == "(4, 128)");
    CHECK(key.state == KeyState::eager);
    CHECK(key.eager_runs == 10);
    CHECK(key.failed_captures == retries + 1);
    CHECK(key.step == "converged?");
    CHECK_THAT(key.reason, ContainsSubstring("cannot be waited for") && ContainsSubstring("capture_cache.cpp:"));
    CHECK_THAT(key.location.file, EndsWith("capture_cache.cpp"));
    CHECK_THAT(to_string(report), StartsWith("1 key, 0 graphs; 10 eager runs, 0 captures, ") &&
                                      ContainsSubstring("\n(4, 128), first run at ") &&
                                      ContainsSubstring(": eager; 10 eager runs, 0 replays, ") &&
                                      ContainsSubstring("in step \"converged?\": cudag: capture at ") &&
                                      EndsWith("with this one in Steps::eager, or with learn_breaks"));
}

TEST_CASE("a capture that failed is tried again after more warm-up", "[capture][cache]") {
    Work work;
    const Stream stream;
    CaptureCache cache({.warm_up = 1, .retries = 1});
    cache.run(stream, 1, work.function());
    work.breaks = true;
    CHECK(cache.run(stream, 1, work.function()) == RunKind::eager);
    CHECK(cache.report().keys.front().state == KeyState::warming_up);
    work.breaks = false;
    CHECK(cache.run(stream, 1, work.function()) == RunKind::eager);
    CHECK(cache.run(stream, 1, work.function()) == RunKind::captured);
    CHECK(cache.run(stream, 1, work.function()) == RunKind::replayed);
    CHECK(work.counted(stream) == 5);
    const cudag::KeyReport key = cache.report().keys.front();
    CHECK(key.state == KeyState::captured);
    CHECK(key.failed_captures == 1);
    CHECK(key.replays == 1);
}

TEST_CASE("work of a cache in the legacy stream runs once a call", "[capture][cache][legacy]") {
    Work legacy;
    const Stream stream;
    CaptureCache cache({.warm_up = 1, .retries = 0});
    const auto function = [&](cudaStream_t s) {
        launch(s, {}, nothing);
        launch(cudaStreamLegacy, {}, add, legacy.cell.data(), legacy.cell.data(), 1);
    };
    for (int run = 0; run < 4; ++run)
        cache.run(stream, 1, function);
    check(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(read(legacy.cell) == std::vector{4});
    CHECK_THAT(cache.report().keys.front().reason, ContainsSubstring("the legacy default stream"));
}

TEST_CASE("work that records nothing runs once a call, too", "[capture][cache]") {
    Work elsewhere;
    const Stream stream, other;
    CaptureCache cache({.warm_up = 1, .retries = 1});
    for (int run = 0; run < 6; ++run)
        CHECK(cache.run(stream, 1, [&](cudaStream_t) {
            const cudag::ThreadCaptureMode allow(cudag::CaptureMode::relaxed);
            launch(other, {}, add, elsewhere.cell.data(), elsewhere.cell.data(), 1);
        }) == RunKind::eager);
    CHECK(elsewhere.counted(other) == 6);
    CHECK_THAT(cache.report().keys.front().reason, ContainsSubstring("nothing was recorded"));
}

TEST_CASE("what a function throws passes through a cache, which is as before", "[capture][cache]") {
    Work work;
    const Stream stream;
    CaptureCache cache({.warm_up = 1});
    const auto run_and_throw = [&](auto key) {
        work.throws = true;
        const CaptureCacheStats before = cache.stats();
        const std::string report = to_string(cache.report());
        CHECK_THROWS_AS(cache.run(stream, key, work.function()), std::out_of_range);
        CHECK(cache.stats() == before);
        CHECK(to_string(cache.report()) == report);
        CHECK(is_usable(stream));
        work.throws = false;
    };
    cache.run(stream, 2, work.function());
    run_and_throw(1); // new
    cache.run(stream, 1, work.function());
    CHECK(cache.run(stream, 2, work.function()) == RunKind::captured);
    run_and_throw(1); // in its capture, of which nothing has run
    CHECK(work.counted(stream) == 4);
    CHECK(cache.run(stream, 1, work.function()) == RunKind::captured);
    work.breaks = true;
    run_and_throw(3);
}

TEST_CASE("in a stream that is being captured a cache calls the function, and takes no notice", "[capture][cache]") {
    Work work;
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watch = owner;
    {
        const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
            CHECK(cache.run(s, 1, [&, kept = std::exchange(owner, nullptr)](Steps& steps) {
                work.function()(steps);
                return kept;
            }) == RunKind::eager);
        });
        CHECK(graph.node_count() == 1);
        CHECK(cache.stats() == CaptureCacheStats{});
        CHECK_FALSE(watch.expired()); // it was returned, and belongs to that graph
        cudag::Exec exec = graph.instantiate();
        run(exec, stream);
        CHECK(work.counted(stream) == 1);
    }
    CHECK(released(watch, stream));
}

TEST_CASE("a function that a cache runs may use the cache", "[capture][cache]") {
    Work layer;
    const Stream stream;
    const std::size_t capacity = GENERATE(1U, 8U); // of 1, the keys compete for it
    CaptureCache cache({.warm_up = 1, .capacity = capacity});
    for (int run = 0; run < 4; ++run)
        cache.run(stream, "model", [&](cudaStream_t s) {
            for (int i = 0; i < 3; ++i)
                cache.run(s, i, layer.function());
        });
    CHECK(layer.counted(stream) == 12);
    CHECK(cache.stats().graphs == 1); // all layers are in the model's
    cache.run(stream, "clears", [&](cudaStream_t s) {
        cache.clear();
        launch(s, {}, nothing);
    });
    stream.synchronize();
    CHECK(cache.stats().keys == 0);
    CHECK(cache.stats().graphs == 0);
}

TEST_CASE("a cache whose captured function clears it, or runs the same key elsewhere, counts its graphs",
          "[capture][cache]") {
    Work work;
    const Stream stream, other;
    CaptureCache cache({.warm_up = 0, .mode = cudag::CaptureMode::relaxed});
    CHECK(cache.run(stream, 1, [&](Steps& steps) {
        work.function()(steps);
        cache.clear();
    }) == RunKind::captured);
    CHECK(work.counted(stream) == 1);
    CHECK(cache.stats().graphs == 0);
    CHECK(cache.run(stream, 1, [&](Steps& steps) {
        work.function()(steps);
        const cudag::ThreadCaptureMode allow(cudag::CaptureMode::relaxed);
        CHECK(cache.run(other, 1, work.function(100)) == RunKind::captured);
        other.synchronize();
    }) == RunKind::captured);
    CHECK(work.counted(stream) == 102);
    CHECK(cache.stats().graphs == 1);
    CHECK(cache.forget(1));
    CHECK(cache.stats().graphs == 0);
}

TEST_CASE("a cache instantiates and captures as its options say", "[capture][cache]") {
    const Stream stream;
    CaptureCache relaxed({.warm_up = 0, .mode = cudag::CaptureMode::relaxed}), strict({.warm_up = 0});
    const auto allocate = [](cudaStream_t s) {
        const cudag::DeviceBuffer<int> buffer(4);
        launch(s, {}, nothing);
    };
    CHECK(relaxed.run(stream, 1, allocate) == RunKind::captured);
    CHECK(strict.run(stream, 1, allocate) == RunKind::eager);
    const auto leak = [](cudaStream_t s) {
        void* memory = nullptr;
        check(cudaMallocAsync(&memory, 16, s));
    };
    CaptureCache freeing({.warm_up = 0, .instantiate = {.auto_free_on_launch = true}});
    for (int run = 0; run < 3; ++run)
        freeing.run(stream, 1, leak);
    CHECK(freeing.stats().replays == 2);
    stream.synchronize();
    freeing.clear();
}

TEST_CASE("caches move, and say when they were moved from", "[capture][cache]") {
    Work work;
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    cache.run(stream, 1, work.function());
    CaptureCache moved = std::move(cache);
    CHECK(moved.run(stream, 1, work.function()) == RunKind::replayed);
    CHECK(work.counted(stream) == 2);
    CHECK_THAT(refused<cudag::GraphError>([&] { cache.run(stream, 1, work.function()); }).what(),
               ContainsSubstring("a moved-from CaptureCache was used"));
    CHECK_THAT(refused<cudag::GraphError>([] { CaptureCache none({.capacity = 0}); }).what(),
               ContainsSubstring("CaptureCache: the capacity is 0; it must be at least 1"));
}

TEST_CASE("what a cache says, as text", "[capture][cache]") {
    const CaptureCacheStats stats{6, 2, 1, 40, 0, 3, 2};
    CHECK(to_string(stats) == "3 keys, 2 graphs; 6 eager runs, 2 captures, 1 failed capture, 40 replays, 0 evictions");
    CHECK(fmt::format("{}", stats) == to_string(stats));
    cudag::KeyReport key{"\"decode\"", cudag::SourceLocation::current(), KeyState::captured, 2, 40, 0, {}, {}};
    CHECK_THAT(to_string(key),
               StartsWith("\"decode\", first run at ") && EndsWith(": captured; 2 eager runs, 40 replays"));
    CHECK(fmt::format("{}", key) == to_string(key));
    key.failed_captures = 1;
    key.reason = "cudag: why";
    CHECK_THAT(to_string(key), EndsWith("40 replays, 1 failed capture: cudag: why"));
    CHECK(fmt::format("{}", cudag::CaptureCacheReport{stats, {key}}) == to_string(stats) + "\n" + to_string(key));
    CHECK(fmt::format("{}", KeyState::warming_up) == std::string("warming up"));
}
