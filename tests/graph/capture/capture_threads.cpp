// Captures that several threads record into, each in streams of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "test.hpp"
#include "usable.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

constexpr std::size_t thread_count = 4;
constexpr int launches = 8;

/// Calls `work(i)` on a thread for each i, and throws what one of them threw.
void on_threads(const std::function<void(std::size_t)>& work) {
    std::vector<std::exception_ptr> errors(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            try {
                work(i);
            } catch (...) {
                errors[i] = std::current_exception();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

/// A cell for each thread, which counts up, and their sum.
class Work {
  public:
    /// Threads enqueue in parallel, or one after the other, the last one first.
    [[nodiscard]] Graph record(bool in_turn, int step, CaptureMode mode = CaptureMode::thread_local_) const {
        return capture(stream_,
                       [&](StreamCapture& c) {
                           launch(c.stream(), {}, store, sum_, 0);
                           std::atomic<std::size_t> turn = thread_count;
                           on_threads([&](std::size_t i) {
                               while (in_turn && turn != i + 1)
                                   std::this_thread::yield();
                               const std::shared_ptr<void> next(nullptr, [&](void*) { --turn; });
                               record(c, i, step);
                           });
                           on_threads([&](std::size_t i) { c.join(sides_[i]); });
                           launch(c.stream(), {}, sum, sum_.data(), cells_);
                       },
                       {.mode = mode});
    }
    [[nodiscard]] int run(Exec& exec) const {
        write(cells_.span(), std::vector<int>(thread_count, 0));
        ::run(exec, stream_);
        return read(sum_).front();
    }
    [[nodiscard]] const Stream& stream() const { return stream_; }

  private:
    void record(StreamCapture& c, std::size_t i, int step) const {
        const Stream& side = sides_[i];
        c.fork(side);
        const auto owner = std::make_shared<int>();
        c.retain(owner);
        for (int k = 0; k < launches; ++k)
            launch(side, {}, add, cells_.data() + i, cells_.data() + i, step);
    }

    Stream stream_;
    std::array<Stream, thread_count> sides_;
    DeviceBuffer<int> cells_{thread_count};
    DeviceBuffer<int> sum_{1};
};

} // namespace

TEST_CASE("several threads record into one capture at once, each in its stream", "[capture][threads]") {
    const Work work;
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    for (int round = 0; round < 20; ++round) {
        const Graph graph = work.record(false, 1, mode);
        REQUIRE(graph.node_count() == 2 + thread_count * launches);
        CHECK(graph.edges().size() == thread_count * (launches + 1) + 1);
        Exec exec = graph.instantiate();
        CHECK(work.run(exec) == static_cast<int>(thread_count) * launches);
    }
}

TEST_CASE("an exec is updated by what threads record in another order", "[capture][threads][update]") {
    const Work work;
    Exec exec = work.record(true, 1).instantiate();
    CHECK(work.run(exec) == static_cast<int>(thread_count) * launches);
    for (int step = 2; step < 10; ++step) {
        CHECK(exec.update(work.record(step % 2 == 0, step), {.match = cudag::Match::structure}).updated());
        CHECK(work.run(exec) == step * static_cast<int>(thread_count) * launches);
    }
}

TEST_CASE("a fork by another thread that fails leaves the capture and its other forks alone", "[capture][threads]") {
    const Stream stream;
    const Stream side;
    const auto cell = device({0});
    std::atomic<int> refusals = 0;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(c.stream(), {}, store, cell, 1);
        on_threads([&](std::size_t i) {
            if (i == 0) {
                c.fork(side);
                launch(side, {}, add, cell.data(), cell.data(), 1);
                c.join(side);
                return;
            }
            try {
                c.fork(cudaStreamLegacy);
            } catch (const CaptureError&) {
                ++refusals;
            }
        });
    });
    CHECK(refusals == static_cast<int>(thread_count) - 1);
    CHECK(graph.node_count() == 2);
    CHECK(is_usable(stream));
}
