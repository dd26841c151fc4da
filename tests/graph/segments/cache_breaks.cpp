// CaptureCache and capture_or_run: functions with breaks, written or learned.
#include <cudag/capture_cache.hpp>
#include <cudag/capture_or_run.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "graphed.hpp"

using cudag::CaptureCache;
using cudag::CaptureError;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::KeyReport;
using cudag::KeyState;
using cudag::launch;
using cudag::RunKind;
using cudag::Steps;
using cudag::Stream;

namespace {

void add_to(cudaStream_t stream, const DeviceBuffer<int>& cell, int value) {
    launch(stream, {}, add, cell.data(), cell.data(), value);
}

int read_after(const Stream& stream, const DeviceBuffer<int>& cell) {
    stream.synchronize();
    return read(cell).front();
}

KeyReport only_key(const CaptureCache& cache) {
    REQUIRE(cache.report().keys.size() == 1);
    return cache.report().keys.front();
}

} // namespace

TEST_CASE("a cache captures a function with breaks as segments, and each replay calls its breaks",
          "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 1});
    std::vector<int> seen;
    int before = 0, breaks = 0, after = 0;
    std::vector<RunKind> kinds;
    for (int call = 0; call < 4; ++call) {
        int found = -1; // the break of this call sets it
        kinds.push_back(cache.run(stream, "key", [&](Steps& steps) {
            steps.step("before", [&](cudaStream_t s) {
                ++before;
                add_to(s, cell, 1);
            });
            steps.eager("look", [&](cudaStream_t s) {
                ++breaks;
                CHECK_FALSE(steps.is_captured());
                check(cudaStreamSynchronize(s));
                found = read(cell).front();
            });
            steps.step("after", [&](cudaStream_t s) {
                ++after;
                add_to(s, cell, 10);
            });
        }));
        seen.push_back(found);
    }
    CHECK(kinds == std::vector{RunKind::eager, RunKind::captured, RunKind::replayed, RunKind::replayed});
    CHECK(seen == std::vector{1, 12, 23, 34});
    CHECK(breaks == 4);
    CHECK((before == 2 && after == 2)); // in the eager run, and in the capture
    CHECK(read_after(stream, cell) == 44);
    const KeyReport report = only_key(cache);
    CHECK(report.state == KeyState::captured);
    CHECK(report.replays == 2);
    CHECK(report.segments == 2);
    REQUIRE(report.breaks.size() == 1);
    CHECK(report.breaks.front().label == "look");
    CHECK(report.breaks.front().reason.empty());
    REQUIRE(report.crossing.size() == 1);
    CHECK(report.crossing.front().breaks == Labels{"look"});
    CHECK_THAT(to_string(report), ContainsSubstring("\n  2 segments, 1 break\n  \"look\" at ") &&
                                      ContainsSubstring(": segments 0 to 1, across \"look\""));
    CHECK(cache.stats().graphs == 1);
    CHECK(cache.stats().captures == 1);
}

TEST_CASE("in a replay the function is captured between its breaks", "[capture][segments][cache]") {
    const Stream stream, side;
    const auto cell = device({0}), other = device({0});
    CaptureCache cache({.warm_up = 0});
    std::vector<bool> captured;
    for (int call = 0; call < 3; ++call)
        cache.run(stream, "key", [&](Steps& steps) {
            captured.push_back(steps.is_captured());
            steps.fork(side);
            steps.step("aside", [&](cudaStream_t s) {
                launch(side, {}, add, other.data(), other.data(), 1);
                steps.step("inner", [&] { add_to(s, cell, 1); });
            });
            steps.join(side);
            steps.eager("break", [] {});
            steps.step("nothing", [] {}, {.allow_empty = true});
        });
    CHECK(captured == std::vector{true, true, true, true}); // twice in the first call
    CHECK(read_after(stream, cell) == 3);
    CHECK(read(other) == std::vector{3});
    CHECK(only_key(cache).segments == 1);
}

TEST_CASE("what replays could not skip runs eagerly, with the reason", "[capture][segments][cache]") {
    const Stream stream, side;
    const auto cell = device({0});
    cudag::CapturePool pool;
    CaptureCache cache({.warm_up = 0, .retries = 0});
    const auto run = [&](const auto& function) {
        for (int call = 0; call < 3; ++call)
            CHECK(cache.run(stream, "key", function) == RunKind::eager);
        CHECK(read_after(stream, cell) == 3);
        const KeyReport report = only_key(cache);
        CHECK(report.state == KeyState::eager);
        return report.reason;
    };
    const auto step = [&](Steps& steps) { steps.step("count", [&](cudaStream_t s) { add_to(s, cell, 1); }); };
    SECTION("work before the first step") {
        CHECK_THAT(run([&](Steps& steps) {
                       add_to(steps.stream(), cell, 1);
                       steps.eager("break", [] {});
                   }),
                   ContainsSubstring("work was recorded before the first step: put all work into steps"));
    }
    SECTION("work behind a break") {
        CHECK_THAT(run([&](Steps& steps) {
                       steps.eager("break", [] {});
                       add_to(steps.stream(), cell, 1);
                   }),
                   ContainsSubstring("work was recorded outside of steps, behind eager \"break\" at "));
    }
    SECTION("work in front of a break") {
        CHECK_THAT(run([&](Steps& steps) {
                       steps.step("nothing", [] {}, {.allow_empty = true});
                       add_to(steps.stream(), cell, 1);
                       steps.eager("break", [] {});
                   }),
                   ContainsSubstring("work was recorded outside of steps, behind step \"nothing\" at "));
    }
    SECTION("a step with a result") {
        CHECK_THAT(run([&](Steps& steps) {
                       CHECK(steps.step("value", [&](cudaStream_t s) {
                           add_to(s, cell, 1);
                           return 5;
                       }) == 5);
                       int number = 0;
                       int& same = steps.step("reference", [&]() -> int& { return number; }, {.allow_empty = true});
                       CHECK(&same == &number);
                       steps.eager("break", [] {});
                   }),
                   ContainsSubstring("step \"value\" at ") && ContainsSubstring(" returns a value"));
    }
    SECTION("a result") {
        CHECK_THAT(run([&](Steps& steps) {
                       step(steps);
                       steps.eager("break", [] {});
                       return std::make_shared<int>(1);
                   }),
                   ContainsSubstring("the function returns a value"));
    }
    SECTION("an allocation") {
        CHECK_THAT(run([&](Steps& steps) {
                       const auto mine = pool.allocate<int>(8);
                       step(steps);
                       steps.eager("break", [] {});
                   }),
                   ContainsSubstring("the function allocates 32 bytes itself, which each replay"));
    }
    SECTION("an open fork") {
        CHECK_THAT(run([&](Steps& steps) {
                       steps.fork(side);
                       steps.eager("break", [] {});
                       step(steps);
                       steps.join(side);
                   }),
                   ContainsSubstring("eager \"break\"") && ContainsSubstring("is not joined"));
    }
    SECTION("a break inside a step") {
        CHECK_THAT(run([&](Steps& steps) {
                       steps.step("outer", [&] {
                           add_to(steps.stream(), cell, 1);
                           steps.eager("break", [] {});
                       });
                   }),
                   ContainsSubstring("a break cannot stand in step \"outer\""));
    }
    SECTION("an exception, since the break is not called in the capture") {
        CHECK_THAT(run([&](Steps& steps) {
                       std::optional<int> found;
                       steps.eager("look", [&] { found = 1; });
                       const int value = found.value();
                       steps.step("count", [&](cudaStream_t s) { add_to(s, cell, value); });
                   }),
                   ContainsSubstring("the function threw behind the break \"look\" at ") &&
                       ContainsSubstring("use what it computes in breaks only"));
    }
}

TEST_CASE("a path that parts from the captured one at a break goes on eagerly", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 0});
    int expected = 0;
    for (int call = 0; call < 8; ++call) {
        const int decision = call % 4;
        int now = 0;
        cache.run(stream, "key", [&](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
            steps.eager("decide", [&] { now = decision; });
            if (now == 1) return;
            if (now == 2) {
                steps.step("another", [&](cudaStream_t s) { add_to(s, cell, 100); });
                add_to(steps.stream(), cell, 1000);
            }
            steps.step("second", [&](cudaStream_t s) { add_to(s, cell, 10); });
            steps.eager("more", [&](cudaStream_t s) { add_to(s, cell, now); });
            if (now == 3) steps.step("last", [&](cudaStream_t s) { add_to(s, cell, 10000); });
        });
        expected += decision == 0 ? 11 : decision == 1 ? 1 : decision == 2 ? 1113 : 10014;
        CHECK(read_after(stream, cell) == expected);
    }
    CHECK(cache.stats().replays == 7);
}

TEST_CASE("a path that parts from the captured one inside a segment is an error", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 0});
    int path = 0;
    const auto run = [&] {
        cache.run(stream, "key", [&](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
            steps.eager("break", [] {});
            steps.step("second", [&](cudaStream_t s) { add_to(s, cell, 10); });
            if (path == 1) steps.step("other", [&](cudaStream_t s) { add_to(s, cell, 100); });
            if (path == 2) steps.eager("other", [] {});
            if (path == 3) return;
            steps.step("third", [&](cudaStream_t s) { add_to(s, cell, 1000); });
        });
    };
    run();
    CHECK(read_after(stream, cell) == 1011);
    path = GENERATE(1, 2, 3);
    const auto error = refused<CaptureError>(run);
    CHECK_THAT(error.what(),
               ContainsSubstring(path == 3 ? "the function returned" : "the function came to \"other\" at ") &&
                   ContainsSubstring("where its capture came to \"third\" at ") &&
                   ContainsSubstring("a break before the decision"));
    CHECK(error.labels() == Labels{"third"});
    CHECK(read_after(stream, cell) == 1012); // up to the break
    path = 0;
    run();
    CHECK(read_after(stream, cell) == 2023);
}

TEST_CASE("exceptions of breaks pass through a cache, and leave it as it was", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 1});
    int throwing_call = GENERATE(0, 1, 2);
    CAPTURE(throwing_call);
    int expected = 0;
    for (int call = 0; call < 4; ++call) {
        bool has_thrown = false;
        const auto before = cache.stats();
        try {
            cache.run(stream, "key", [&](Steps& steps) {
                steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
                steps.eager("break", [&] {
                    if (call == throwing_call) throw std::runtime_error("no");
                });
                steps.step("second", [&](cudaStream_t s) { add_to(s, cell, 10); });
            });
        } catch (const std::runtime_error&) {
            has_thrown = true;
            CHECK(cache.stats() == before);
        }
        CHECK(has_thrown == (call == throwing_call));
        expected += has_thrown ? 1 : 11;
        CHECK(read_after(stream, cell) == expected);
    }
}

TEST_CASE("buffers change from replay to replay in all segments", "[capture][segments][cache]") {
    const Stream stream;
    const auto a = device({0}), b = device({0});
    const auto small = device(std::vector<int>());
    CaptureCache cache({.warm_up = 0});
    const auto run = [&](const DeviceBuffer<int>& data) {
        return cache.run(stream, "key", {data}, [&](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, data, 1); });
            steps.eager("break", [&](cudaStream_t s) { add_to(s, data, 10); });
            steps.step("second", [&](cudaStream_t s) { add_to(s, data, 100); });
        });
    };
    CHECK(run(a) == RunKind::captured);
    CHECK(run(b) == RunKind::replayed);
    CHECK(run(b) == RunKind::replayed);
    CHECK(read_after(stream, a) == 111);
    CHECK(read_after(stream, b) == 222);
    CHECK_THROWS_AS(run(small), cudag::UpdateError);
    CHECK(read_after(stream, b) == 222);
}

TEST_CASE("verified replays compare each segment", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 0, .verify = 1});
    int frozen = 10;
    bool has_more = false;
    const auto run = [&] {
        return cache.run(stream, "key", [&](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
            steps.eager("break", [&](cudaStream_t s) { add_to(s, cell, frozen); });
            steps.step("second", [&](cudaStream_t s) { add_to(s, cell, frozen); });
            if (has_more) steps.eager("more", [] {});
        });
    };
    CHECK(run() == RunKind::captured);
    CHECK(run() == RunKind::replayed);
    CHECK(read_after(stream, cell) == 42);
    frozen = 20;
    CHECK_THAT(refused<cudag::FrozenValueError>(run).what(),
               ContainsSubstring("\"second\"") && ContainsSubstring("10 -> 20"));
    frozen = 10;
    has_more = true;
    CHECK_THAT(refused<CaptureError>(run).what(),
               ContainsSubstring("the function, captured again, has other steps and breaks than in its capture"));
    has_more = false;
    CHECK(run() == RunKind::replayed);
    CHECK(read_after(stream, cell) == 63);
}

TEST_CASE("a step that breaks the capture becomes a break from the next call on", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 1, .learn_breaks = true});
    std::vector<RunKind> kinds;
    std::vector<int> seen;
    bool waits = true;
    const auto run = [&] {
        kinds.push_back(cache.run(stream, "key", [&](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
            steps.step("look", [&](cudaStream_t s) {
                if (waits) check(cudaStreamSynchronize(s));
                add_to(s, cell, 10);
            });
            steps.step("middle", [&](cudaStream_t s) { add_to(s, cell, 100); });
            steps.step("look again", [&](cudaStream_t s) {
                check(cudaStreamSynchronize(s));
                seen.push_back(read(cell).front());
            });
            steps.step("last", [&](cudaStream_t s) { add_to(s, cell, 1000); });
        }));
    };
    int calls = 0;
    for (; calls < 5; ++calls)
        run();
    CHECK(kinds == std::vector{RunKind::eager, RunKind::eager, RunKind::eager, RunKind::captured, RunKind::replayed});
    CHECK(read_after(stream, cell) == 5 * 1111);
    CHECK(seen == std::vector{111, 1222, 2333, 3444, 4555});
    KeyReport report = only_key(cache);
    CHECK(report.segments == 3);
    REQUIRE(report.breaks.size() == 2);
    CHECK(report.breaks.front().label == "look");
    CHECK_THAT(report.breaks.front().reason,
               ContainsSubstring("step \"look\" at ") && ContainsSubstring("operation not permitted"));
    CHECK_THAT(to_string(report), ContainsSubstring("3 segments, 2 breaks") && ContainsSubstring(", learned: "));
    CHECK(report.failed_captures == 2);

    waits = false; // a later version of the step
    for (; calls < 4 + 64; ++calls)
        run();
    CHECK(kinds.back() == RunKind::captured);
    CHECK(only_key(cache).breaks.size() == 1);
    CHECK(only_key(cache).segments == 2);
    for (; calls < 5 + 64 + 200; ++calls) // the other one is tried in vain
        run();
    CHECK(kinds.back() == RunKind::replayed);
    CHECK(only_key(cache).breaks.size() == 1);
    CHECK(only_key(cache).breaks.front().label == "look again");
    CHECK(read_after(stream, cell) == calls * 1111);
    CHECK(static_cast<int>(seen.size()) == calls);
}

TEST_CASE("what is no step's fault teaches no break", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    const bool in_step = GENERATE(false, true);
    CaptureCache cache({.warm_up = 0, .retries = 1, .learn_breaks = in_step == false});
    for (int call = 0; call < 5; ++call)
        CHECK(cache.run(stream, "key", [&](Steps& steps) {
            steps.step("count", [&](cudaStream_t s) {
                add_to(s, cell, 1);
                if (in_step) check(cudaStreamSynchronize(s));
            });
            check(cudaStreamSynchronize(steps.stream()));
        }) == RunKind::eager);
    CHECK(read_after(stream, cell) == 5);
    CHECK(only_key(cache).state == KeyState::eager);
    CHECK(only_key(cache).failed_captures == 2);
}

TEST_CASE("a step with a result is not learned", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 0, .retries = 1, .learn_breaks = true});
    for (int call = 0; call < 5; ++call)
        cache.run(stream, "key", [&](Steps& steps) {
            steps.step("count", [&](cudaStream_t s) { add_to(s, cell, 1); });
            const int seen = steps.step("look", [&](cudaStream_t s) {
                check(cudaStreamSynchronize(s));
                return read(cell).front();
            });
            CHECK(seen == call + 1);
        });
    CHECK(only_key(cache).state == KeyState::eager);
}

TEST_CASE("a break may drop its own key, and use the cache", "[capture][segments][cache]") {
    const Stream stream;
    const auto cell = device({0});
    CaptureCache cache({.warm_up = 0});
    int inner = 0;
    const auto run = [&](bool forgets) {
        cache.run(stream, "key", [&, forgets](Steps& steps) {
            steps.step("first", [&](cudaStream_t s) { add_to(s, cell, 1); });
            steps.eager("break", [&, forgets](cudaStream_t s) {
                ++inner;
                cache.run(s, "inner", [&](cudaStream_t again) { add_to(again, cell, 10); });
                if (forgets) cache.clear();
            });
            steps.step("second", [&](cudaStream_t s) { add_to(s, cell, 100); });
        });
    };
    for (const bool forgets : {false, true, false, true, false})
        run(forgets);
    CHECK(inner == 5);
    CHECK(read_after(stream, cell) == 555);
    CHECK(cache.stats().keys == 2);
}

TEST_CASE("owners in the captured function live as long as replays may use them", "[owners][segments][cache]") {
    const Stream stream;
    Watched kept;
    std::optional<CaptureCache> cache(std::in_place, cudag::CaptureCacheOptions{.warm_up = 0});
    cache->run(stream, "key", [owner = kept.take()](Steps& steps) {
        steps.step("first", [&](cudaStream_t s) { launch(s, {}, store, owner.get(), 1); });
        steps.eager("break", [] {});
        steps.step("second", [&](cudaStream_t s) { launch(s, {}, add, owner.get(), owner.get(), 1); });
    });
    CHECK(kept.alive());
    stream.synchronize();
    CHECK(kept.value() == 2);
    cache.reset();
    CHECK(released(kept, stream));
}

TEST_CASE("capture_or_run hands out segments, which keep the functions of breaks", "[capture][run][segments]") {
    const Stream stream;
    const auto cell = device({0});
    int breaks = 0, calls = 0;
    auto ran = cudag::capture_or_run(stream, [&](Steps& steps) {
        ++calls;
        add_to(steps.stream(), cell, 1);
        steps.eager("break", [&breaks, &cell](cudaStream_t s) {
            ++breaks;
            add_to(s, cell, 10);
        });
        add_to(steps.stream(), cell, 100);
        return 5;
    });
    CHECK(calls == 1);
    CHECK_FALSE(ran.error);
    CHECK_FALSE(ran.exec);
    REQUIRE(ran.segments);
    CHECK(ran.output == 5);
    CHECK(read_after(stream, cell) == 111);
    ran.segments->launch(stream);
    CHECK(breaks == 2);
    CHECK(read_after(stream, cell) == 222);
}

TEST_CASE("capture_or_run with breaks runs once eagerly if it cannot be captured", "[capture][run][segments]") {
    const Stream stream;
    const auto cell = device({0});
    const bool throws = GENERATE(false, true);
    const auto ran = cudag::capture_or_run(stream, [&](Steps& steps) {
        std::optional<int> found;
        add_to(steps.stream(), cell, 1);
        steps.eager("break", [&found, &cell](cudaStream_t s) {
            found = 1;
            add_to(s, cell, 10);
        });
        if (throws) static_cast<void>(found.value());
        steps.step("look", [&](cudaStream_t s) { check(cudaStreamSynchronize(s)); });
    });
    REQUIRE(ran.error);
    CHECK_FALSE(ran.segments);
    CHECK(ran.error->labels() == (throws ? Labels{"break"} : Labels{"look"}));
    CHECK(read_after(stream, cell) == 11);
}
