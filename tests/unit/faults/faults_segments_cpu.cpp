// Every runtime call that fails while segments are captured, launched or reported.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>
#include <cudag/segmented_graph.hpp>

#include <catch.hpp>

#include <memory>
#include <optional>

using cudag::SegmentedGraph;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// Parts on a number: segments add 1, the break multiplies it by 10 and adds 1.
class Parts {
  public:
    Parts() {
        cudag::memset_async(stream, counted_, 0);
        cudag::memset_async(stream, one_, 1);
        stream.synchronize();
    }

    [[nodiscard]] SegmentedGraph capture(bool shared = false) {
        return cudag::capture_segments(
            stream,
            [&](StreamCapture& c) {
                c.step("before", [&](cudaStream_t s) { count(s, 1); });
                c.retain(std::make_shared<int>(1));
                c.eager("break", [this, owner = std::make_shared<int>(1)](cudaStream_t s) { count(s, 10); });
                count(c.stream(), 1);
            },
            {}, {.share_execs = shared});
    }

    int counted() {
        stream.synchronize();
        int now = 0;
        cudag::check(cudaMemcpy(&now, counted_.data(), sizeof now, cudaMemcpyDeviceToHost));
        cudag::memset_async(stream, counted_, 0);
        return now;
    }

    /// The same parts as a function for caches; `waits` makes a step that cannot be captured.
    auto function(bool waits = false) {
        return [this, waits](cudag::Steps& steps) {
            steps.step("before", [&](cudaStream_t s) {
                count(s, 1);
                if (waits) stream.synchronize();
            });
            steps.eager("break", [&](cudaStream_t s) { count(s, 10); });
            steps.step("after", [&](cudaStream_t s) { count(s, 1); });
        };
    }

    /// Ends a capture left by a fault in the place of cudaStreamEndCapture: see faults_capture_cache_cpu.cpp.
    /// Whether there was one.
    bool end_capture() const {
        cudaStreamCaptureStatus status{};
        cudag::check(cudaStreamIsCapturing(stream.get(), &status));
        if (status == cudaStreamCaptureStatusNone) return false;
        cudaGraph_t graph = nullptr;
        if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess) cudag::check(cudaGraphDestroy(graph));
        static_cast<void>(cudaGetLastError());
        return true;
    }

    Stream stream;

  private:
    void count(cudaStream_t s, int factor) {
        cudag::launch(s, {}, multiply_add, counted_.span(), one_.span(), 1, factor);
    }

    cudag::DeviceBuffer<int> counted_{1};
    cudag::DeviceBuffer<int> one_{1};
};

} // namespace

TEST_CASE("whichever call fails, segments are captured whole or not at all", "[unit][faults][segments]") {
    Parts parts;
    { // what is made once
        SegmentedGraph program = parts.capture();
        program.launch(parts.stream);
        CHECK(parts.counted() == 12);
    }
    const NothingLeft nothing_left;
    std::optional<SegmentedGraph> made;
    const Faults faults = for_every_call_failing([&] { made = parts.capture(); },
                                                 [&] {
                                                     parts.end_capture();
                                                     CHECK(parts.counted() == 0);
                                                     made.reset();
                                                 });
    CHECK(faults.thrown >= 10);
    made->launch(parts.stream);
    CHECK(parts.counted() == 12);
    made.reset();
}

TEST_CASE("whichever call fails, a launch of segments has run its parts up to there", "[unit][faults][segments]") {
    Parts parts;
    const bool shared = GENERATE(false, true);
    std::optional<SegmentedGraph> program;
    std::uint64_t before = 0;
    const Faults faults = for_every_call_failing(
        [&] {
            before = program->replays();
            program->launch(parts.stream);
        },
        [&] {
            const int counted = parts.counted();
            CAPTURE(counted);
            if (program->replays() == before)
                CHECK((counted == 0 || counted == 1 || counted == 11));
            else
                CHECK(counted == 12);
            program->launch(parts.stream);
            CHECK(parts.counted() == 12);
        },
        [&] {
            if (!program || shared) program = parts.capture(shared);
        });
    CHECK(faults.thrown >= 3);
    CHECK(parts.counted() == 12);
}

TEST_CASE("whichever call fails, a report of segments is complete or throws", "[unit][faults][segments]") {
    Parts parts;
    std::optional<SegmentedGraph> program;
    std::optional<cudag::SegmentedReport> report;
    const Faults faults = for_every_call_failing([&] { report = program->report(); },
                                                 [&] {
                                                     const cudag::SegmentedReport again = program->report();
                                                     CHECK(again.crossing.size() == 2);
                                                 },
                                                 [&] { program = parts.capture(); });
    CHECK(faults.thrown + faults.ignored >= 1);
    CHECK(report->nodes.size() == 2);
    CHECK(report->crossing.size() == 2);
}

TEST_CASE("whichever call fails, a cache has run a function with breaks once, or up to there",
          "[unit][faults][segments]") {
    Parts parts;
    const bool waits = GENERATE(false, true); // a learned break
    const int runs = GENERATE(1, 2, 3, 66);   // the 67th tries a learned break as a step again
    CAPTURE(waits, runs);
    if (!waits && runs > 3) return;
    std::optional<cudag::CaptureCache> cache;
    cudag::CaptureCacheStats before;
    bool has_run = false, was_left = false;
    const auto run = [&] { return cache->run(parts.stream, "key", parts.function(waits)); };
    const Faults faults = for_every_call_failing(
        [&] {
            try {
                run();
                has_run = true;
            } catch (const cudag::CaptureError&) {
                was_left = parts.end_capture();
                if (!was_left) throw;
            }
        },
        [&] {
            was_left = parts.end_capture() || was_left;
            const int counted = parts.counted();
            CAPTURE(counted, was_left);
            if (has_run && !was_left)
                CHECK(counted == 12);
            else
                CHECK((counted == 0 || counted == 1 || counted == 11 || counted == 12));
            if (!has_run) CHECK(cache->stats() == before);
            for (int i = 0; i < 2; ++i) {
                run();
                CHECK(parts.counted() == 12);
            }
        },
        [&] {
            cache.emplace(cudag::CaptureCacheOptions{.warm_up = 1, .retries = 9, .learn_breaks = true});
            for (int i = 0; i < runs; ++i) {
                run();
                CHECK(parts.counted() == 12);
            }
            before = cache->stats();
            has_run = was_left = false;
        });
    CHECK(faults.thrown >= 2);
    CHECK(parts.counted() == 12);
}

TEST_CASE("whichever call fails, capture_or_run has run a function with breaks once, or up to there",
          "[unit][faults][segments]") {
    Parts parts;
    bool has_run = false;
    const Faults faults = for_every_call_failing(
        [&] {
            const auto ran = cudag::capture_or_run(parts.stream, parts.function());
            has_run = true;
        },
        [&] {
            const bool was_left = parts.end_capture();
            const int counted = parts.counted();
            CAPTURE(counted, was_left);
            if (has_run && !was_left)
                CHECK(counted == 12);
            else
                CHECK((counted == 0 || counted == 1 || counted == 11 || counted == 12));
        },
        [&] { has_run = false; });
    CHECK(faults.thrown >= 2);
    CHECK(faults.ignored >= 3);
    CHECK(parts.counted() == 12);
}
