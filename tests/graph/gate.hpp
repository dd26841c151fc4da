// A host node that holds a graph up until the test lets it through.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "watched.hpp"

/// `builder.host(gate.node())`, before what is to be held up. While it is closed no CUDA call may be made that waits
/// for the device, such as freeing memory. Declared after the streams, graphs and memory that it holds up, so that a
/// failing test opens it first.
class Gate {
  public:
    Gate() {
        load_kernels();
        free_what_was_kept();
    }
    ~Gate() {
        open();
        CHECK(cudaDeviceSynchronize() == cudaSuccess); // a host node may still be inside this object
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    auto node() {
        return [this] {
            entered_ = true;
            entered_.notify_all();
            open_.wait(false);
        };
    }

    void wait_until_entered() const { entered_.wait(false); }
    void open() {
        open_ = true;
        open_.notify_all();
    }
    /// For another launch, once the last one has ended.
    void close() {
        entered_ = false;
        open_ = false;
    }

  private:
    /// CUDA loads a kernel when it is first used, which may wait for the device.
    static void load_kernels() {
        cudaFuncAttributes attributes{};
        cudag::check(cudaFuncGetAttributes(&attributes, cudag::detail::kernel_symbol(store)));
        cudag::check(cudaFuncGetAttributes(&attributes, cudag::detail::kernel_symbol(add)));
    }

    /// What the graphs of earlier tests have kept, CUDA hands over a little later, in order. Freed while the gate is
    /// closed, it would wait for the device, and for the gate.
    static void free_what_was_kept() {
        cudag::check(cudaDeviceSynchronize());
        const cudag::Stream stream;
        auto last = std::make_shared<int>();
        const std::weak_ptr<int> watch = last;
        {
            cudag::GraphBuilder b;
            b.host([kept = std::exchange(last, nullptr)] {});
            run(std::move(b));
        }
        REQUIRE(released(watch, stream));
    }

    std::atomic<bool> entered_ = false;
    std::atomic<bool> open_ = false;
};
