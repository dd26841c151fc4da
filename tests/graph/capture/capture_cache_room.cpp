// What a CaptureCache keeps if there is no room for all keys, and what it says about that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cudag/observer.hpp>

#include "graphed.hpp"

using cudag::CaptureCache;
using cudag::KeyState;
using cudag::launch;
using cudag::RunKind;
using cudag::Stream;

namespace {

/// Stores `value` in cell `at`.
auto storing(const cudag::DeviceBuffer<int>& cells, int at, int value) {
    return [&cells, at, value](cudaStream_t s) { launch(s, {}, store, cells.data() + at, value); };
}

} // namespace

TEST_CASE("beyond the capacity a key runs eagerly, until it comes more often than one with a graph",
          "[capture][cache]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .capacity = 2});
    const auto run = [&](int key) {
        const RunKind kind = cache.run(stream, key, storing(cells, key, key + 1));
        stream.synchronize();
        return kind;
    };
    CHECK(run(0) == RunKind::captured);
    CHECK(run(1) == RunKind::captured);
    CHECK(run(0) == RunKind::replayed);
    CHECK(run(2) == RunKind::eager); // who knows whether it comes again
    CHECK(cache.report().keys.back().state == KeyState::crowded_out);
    CHECK(run(2) == RunKind::captured); // more often than 1, which goes
    CHECK(cache.stats().graphs == 2);
    CHECK(cache.stats().evictions == 1);
    CHECK(cache.stats().keys == 3);
    CHECK(run(0) == RunKind::replayed);
    CHECK(run(2) == RunKind::replayed);
    CHECK(run(1) == RunKind::eager);
    CHECK(read(cells) == std::vector{1, 2, 3});
    const auto of_one = cache.report().keys.back();
    CHECK(of_one.key == "1");
    CHECK(of_one.evictions == 1);
    CHECK(of_one.crowded_runs == 1);
    CHECK(cache.stats().returns == 1);
}

TEST_CASE("the least recently run graph goes first of those run once", "[capture][cache]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .capacity = 2});
    const auto run = [&](int key) {
        const RunKind kind = cache.run(stream, key, storing(cells, key, key + 1));
        stream.synchronize();
        return kind;
    };
    for (const int key : {1, 0, 2, 2})
        run(key);
    CHECK(run(0) == RunKind::replayed);
    CHECK(run(2) == RunKind::replayed);
    CHECK(run(1) == RunKind::eager);
}

TEST_CASE("keys in turns, one more than there is room for: all but one are replayed, and the report says so",
          "[capture][cache][policy]") {
    constexpr int capacity = 4, keys = capacity + 1, turns = 50;
    const auto cells = device(std::vector<int>(keys));
    const Stream stream;
    CaptureCache cache({.capacity = capacity});
    std::vector<cudag::ObservedCrowding> events;
    const cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        if (const auto* crowding = event.find<cudag::ObservedCrowding>()) events.push_back(*crowding);
    });
    for (int turn = 0; turn < turns; ++turn)
        for (int key = 0; key < keys; ++key)
            cache.run(stream, key, storing(cells, key, key));
    cudag::set_observer(former);
    stream.synchronize();
    const cudag::CaptureCacheStats stats = cache.stats();
    CHECK(stats.captures == capacity);
    CHECK(stats.replays == (turns - 3) * capacity);
    CHECK(stats.evictions == 0);
    CHECK(stats.crowded_runs == turns - 2);
    CHECK(stats.crowded_keys == 1);
    CHECK(stats.needed_capacity() == keys);
    CHECK_THAT(to_string(stats), ContainsSubstring("; 48 eager runs for lack of room, 0 returns after eviction: "
                                                   "capacity 5 would keep the 1 key without room, in "));
    CHECK_THAT(to_string(cache.report()), ContainsSubstring("crowded out; 50 eager runs, 0 replays, 48 eager runs for "
                                                            "lack of room"));
    REQUIRE(events.size() == 3); // after 8, 16 and 32 runs
    CHECK(events.back().runs == 32);
    CHECK(events.back().keys == 1);
    CHECK(events.back().needed == keys);
    CHECK_THAT(to_string(cudag::Observation{events.back()}),
               Equals("CaptureCache has no room for 1 key of 32 eager runs, and 0 came back after eviction; capacity 5 "
                      "would keep them, instead of 4"));
    CaptureCache larger({.capacity = stats.needed_capacity()});
    for (int i = 0; i < 10 * keys; ++i)
        larger.run(stream, i % keys, storing(cells, i % keys, i));
    stream.synchronize();
    CHECK(larger.stats().crowded_runs == 0);
    CHECK(larger.stats().graphs == keys);
}

TEST_CASE("when other keys are run, they get the graphs of the former ones", "[capture][cache][policy]") {
    const auto cells = device({0, 0, 0, 0, 0, 0, 0, 0});
    const Stream stream;
    CaptureCache cache({.capacity = 2});
    for (int phase = 0; phase < 4; ++phase) {
        const std::uint64_t before = cache.stats().replays;
        for (int i = 0; i < 100; ++i) {
            cache.run(stream, 2 * phase + i % 2, storing(cells, 2 * phase + i % 2, i));
            stream.synchronize();
        }
        CHECK(cache.stats().replays - before >= 90);
    }
    CHECK(cache.stats().captures == 8);
    CHECK(cache.stats().evictions == 6);
    CHECK(cache.stats().crowded_keys == 0); // nobody asks for the former keys
}

TEST_CASE("a key whose graph went need not warm up again", "[capture][cache][policy]") {
    const auto cells = device({0, 0});
    const Stream stream;
    CaptureCache cache({.warm_up = 5, .capacity = 1});
    const auto run = [&](int key) {
        const RunKind kind = cache.run(stream, key, storing(cells, key, key));
        stream.synchronize();
        return kind;
    };
    for (const int key : {0, 1, 0}) {
        int eager = 0;
        while (run(key) == RunKind::eager)
            ++eager;
        CHECK(run(key) == RunKind::replayed);
        for (int i = 0; i < 20; ++i)
            run(key);
        CHECK(eager >= 1);
        if (key == 0 && cache.stats().captures == 3) CHECK(eager < 20);
    }
    CHECK(cache.report().keys.back().eager_runs < 5 + 20);
    CHECK(cache.stats().captures == 3);
    CHECK(cache.stats().returns == 1);
}

TEST_CASE("a key that comes back after each eviction is counted each time", "[capture][cache][policy]") {
    const auto cells = device({0, 0});
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .capacity = 1});
    for (const int phase : {0, 1, 2, 3, 4}) {
        for (int i = 0; i < 40; ++i) {
            cache.run(stream, phase % 2, storing(cells, phase % 2, i));
            stream.synchronize();
        }
        CHECK(cache.stats().evictions == static_cast<std::uint64_t>(phase));
        CHECK(cache.stats().returns == static_cast<std::uint64_t>(std::max(phase - 1, 0)));
    }
}

TEST_CASE("graphs take no more memory than they may, a floor aside", "[capture][cache][policy]") {
    const auto cells = device({0, 0, 0, 0});
    const Stream stream;
    constexpr std::size_t each = 108 * 1024 + 2608; // the estimate for a graph of one node
    const auto graphs_of = [&](const cudag::CaptureCacheOptions& options) {
        CaptureCache cache(options);
        for (int i = 0; i < 40; ++i) {
            cache.run(stream, i % 4, storing(cells, i % 4, i));
            stream.synchronize();
        }
        CHECK(cache.stats().bytes == cache.stats().graphs * each);
        CHECK(cache.stats().crowded_bytes == (4 - cache.stats().graphs) * each);
        CHECK(cache.stats().evictions == 0);
        return cache.stats().graphs;
    };
    CHECK(graphs_of({}) == 4);
    CHECK(graphs_of({.max_bytes = 3 * each}) == 3);
    CHECK(graphs_of({.max_bytes = 3 * each - 1}) == 2);
    CHECK(graphs_of({.max_bytes = 1}) == 1);
    CHECK(graphs_of({.max_bytes = 1, .min_graphs = 2}) == 2);
    CHECK(graphs_of({.capacity = 1, .max_bytes = 3 * each}) == 1);
    CHECK_THAT(refused<cudag::GraphError>([] { CaptureCache none({.min_graphs = 0}); }).what(),
               ContainsSubstring("CaptureCache: min_graphs is 0; it must be at least 1"));
    CHECK_THAT(refused<cudag::GraphError>([] { CaptureCache none({.known_keys = 0}); }).what(),
               ContainsSubstring("CaptureCache: known_keys is 0; it must be at least 1"));
}

TEST_CASE("a large graph takes the room of several small ones, if it is worth them", "[capture][cache][policy]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    constexpr std::size_t each = 108 * 1024 + 2608, large = 108 * 1024 + 91 * 2608;
    CaptureCache cache({.warm_up = 0, .max_bytes = 2 * each});
    const auto run = [&](int key, int kernels) {
        const RunKind kind = cache.run(stream, key, [&](cudaStream_t s) {
            for (int i = 0; i < kernels; ++i)
                launch(s, {}, store, cells.data() + key, i);
        });
        stream.synchronize();
        return kind;
    };
    run(0, 1);
    run(1, 1);
    CHECK(cache.stats().bytes == 2 * each);
    int calls = 1;
    while (run(2, 91) == RunKind::eager)
        ++calls;
    CHECK(calls < 20);
    CHECK(cache.stats().bytes <= 2 * each + each / 10 + large);
    run(2, 91);
    CHECK(cache.stats().graphs == 1); // beyond the limit alone, as the floor allows
    CHECK(cache.stats().bytes == large);
    CHECK(cache.stats().evictions == 2);
}

TEST_CASE("a graph whose call is under way is not evicted by the keys that its function runs", "[capture][cache]") {
    const auto cells = device({0, 0});
    const Stream stream, other;
    CaptureCache cache({.warm_up = 0, .capacity = 1, .mode = cudag::CaptureMode::relaxed, .verify = 1});
    const auto outer = [&](cudaStream_t s) {
        launch(s, {}, store, cells.data(), 1);
        const cudag::ThreadCaptureMode allow(cudag::CaptureMode::relaxed);
        for (int i = 0; i < 20; ++i) {
            cache.run(other, "inner", storing(cells, 1, 2));
            other.synchronize();
        }
    };
    cache.run(stream, "outer", outer);
    stream.synchronize();
    for (int i = 0; i < 3; ++i)
        cache.run(stream, "outer", outer);
    CHECK(read(stream, cells.span()) == std::vector{1, 2});
    CHECK(cache.stats().graphs == 1);
}
