// Every runtime call that fails while a function is captured, or run.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

using cudag::CaptureCache;
using cudag::CaptureCacheStats;
using cudag::RunKind;
using cudag::Steps;
using cudag::Stream;

namespace {

/// Work that the device counts.
class Count {
  public:
    Count() {
        cudag::memset_async(stream, counted_, 0);
        cudag::memset_async(stream, one_, 1);
        stream.synchronize();
    }

    auto function() {
        return [this](Steps& steps) {
            steps.step("count",
                       [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, counted_.span(), one_.span(), 1, 1); });
            if (breaks && cudaStreamSynchronize(steps.stream()) != cudaSuccess) static_cast<void>(cudaGetLastError());
            return std::make_shared<int>(1);
        };
    }

    /// What has been counted since the last time.
    int counted() {
        stream.synchronize();
        int now = 0;
        cudag::check(cudaMemcpy(&now, counted_.data(), sizeof now, cudaMemcpyDeviceToHost));
        return now - std::exchange(before_, now);
    }

    /// A fault in the place of cudaStreamEndCapture lets the capture go on, as no failure of CUDA's own does; what runs
    /// after it is recorded, or fails. Ends such a capture; whether there was one.
    [[nodiscard]] bool end_capture() const {
        cudaStreamCaptureStatus status{};
        cudag::check(cudaStreamIsCapturing(stream.get(), &status));
        if (status == cudaStreamCaptureStatusNone) return false;
        cudaGraph_t graph = nullptr;
        if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess) cudag::check(cudaGraphDestroy(graph));
        static_cast<void>(cudaGetLastError());
        return true;
    }

    Stream stream;
    bool breaks = false;

  private:
    cudag::DeviceBuffer<int> counted_{1};
    cudag::DeviceBuffer<int> one_{1};
    int before_ = 0;
};

} // namespace

TEST_CASE("whichever call fails, capture_or_run has run the function once, or throws and has not",
          "[unit][faults][first]") {
    Count count;
    count.breaks = GENERATE(false, true);
    bool has_run = false, is_ended = false;
    const auto operation = [&] {
        try {
            const auto ran = cudag::capture_or_run(count.stream, count.function());
            has_run = true;
        } catch (const cudag::CaptureError&) {
            is_ended = count.end_capture();
            if (!is_ended) throw;
        }
    };
    const auto verify = [&] {
        is_ended = count.end_capture() || is_ended;
        const int counted = count.counted();
        if (!is_ended) CHECK(counted == (has_run ? 1 : 0));
    };
    const Faults faults = for_every_call_failing(operation, verify, [&] { has_run = is_ended = false; });
    CHECK(faults.thrown >= 2);
    CHECK(faults.ignored >= 3); // what fails at the begin or the end of the capture, or as it is instantiated
    CHECK(count.counted() == 1);
}

TEST_CASE("whichever call fails, a cache has run the function once, or throws and is as before", "[unit][faults]") {
    Count count;
    const int runs = GENERATE(0, 1, 2);
    const RunKind kind = runs == 0 ? RunKind::eager : runs == 1 ? RunKind::captured : RunKind::replayed;
    CAPTURE(runs);
    std::optional<CaptureCache> cache;
    CaptureCacheStats before;
    bool has_run = false;
    const auto prepare = [&] {
        cache.emplace(cudag::CaptureCacheOptions{.warm_up = 1});
        for (int i = 0; i < runs; ++i)
            cache->run(count.stream, "count", count.function());
        CHECK(count.counted() == runs);
        before = cache->stats();
        has_run = false;
    };
    const auto operation = [&] {
        cache->run(count.stream, "count", count.function());
        has_run = true;
    };
    const auto verify = [&] {
        const bool is_recorded = count.end_capture();
        CHECK(count.counted() == (has_run && !is_recorded ? 1 : 0));
        if (has_run) return;
        CHECK(cache->stats() == before);
        CHECK(cache->run(count.stream, "count", count.function()) == kind);
        CHECK(count.counted() == 1);
    };
    const Faults faults = for_every_call_failing(operation, verify, prepare);
    CHECK(faults.thrown >= 2);
    CHECK((faults.ignored >= 1 || kind == RunKind::replayed));
    CHECK(count.counted() == 1);
}

TEST_CASE("what an eager run returns outlives its work, whichever call fails", "[unit][faults]") {
    const Stream owned;
    cudaStream_t plain = nullptr; // whose launches cudag marks by events
    cudag::check(cudaStreamCreateWithFlags(&plain, cudaStreamNonBlocking));
    const cudaStream_t stream = GENERATE(false, true) ? plain : owned.get();
    CaptureCache cache;
    std::weak_ptr<int> watch;
    const auto function = [&](cudaStream_t s) {
        const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
        if (cudaLaunchHostFunc(s, wait, nullptr) != cudaSuccess) static_cast<void>(cudaGetLastError());
        auto owner = std::make_shared<int>(1);
        watch = owner;
        return owner;
    };
    const auto verify = [&] {
        if (watch.expired()) CHECK(cudaStreamQuery(stream) == cudaSuccess);
        cudag::check(cudaStreamSynchronize(stream));
    };
    const Faults faults =
        for_every_call_failing([&] { cache.run(stream, 1, function); }, verify, [&] { cache.clear(); });
    CHECK(faults.thrown >= 1);
    CHECK(faults.ignored >= 3); // the function's, and the marker's
    cudag::check(cudaStreamSynchronize(stream));
    cudag::check(cudaStreamDestroy(plain));
}

TEST_CASE("functions that are captured, run eagerly or fail leave nothing behind", "[unit][faults]") {
    const NothingLeft check;
    Count count;
    CaptureCache cache({.warm_up = 1, .capacity = 2});
    for (int key = 0; key < 6; ++key)
        for (int run = 0; run < 3; ++run) {
            count.breaks = key % 2 != 0;
            cache.run(count.stream, key, count.function());
            CHECK(count.counted() == 1);
        }
    static_cast<void>(cudag::capture_or_run(count.stream, count.function()));
    CHECK_THROWS_AS(cache.run(count.stream, "throws",
                              [&](Steps& steps) {
                                  count.function()(steps);
                                  throw std::runtime_error("half-way");
                              }),
                    std::runtime_error);
    count.stream.synchronize();
}
