// A host function that holds a stream or a graph up until the test lets it through.
#pragma once

#include "test.hpp"

#include <atomic>

/// Declared after the streams, graphs and memory that it holds up, so that a failing test opens it first.
/// Tests in which a kernel ends while a gate is closed have the tag [concurrent]: compute-sanitizer, which runs one
/// thing at a time, never ends them.
class Gate {
  public:
    Gate() = default;
    ~Gate() {
        open();
        // A host function may still be inside this object.
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void block(cudaStream_t stream) { REQUIRE_CUDA(cudaLaunchHostFunc(stream, &Gate::pass, this)); }
    cudaHostNodeParams node() { return {&Gate::pass, this}; }

    void open() {
        open_ = true;
        open_.notify_all();
    }
    void close() { open_ = false; }
    void wait_until_entered() const { entered_.wait(0); }
    int entered() const { return entered_; }
    int passed() const { return passed_; }

  private:
    static void CUDART_CB pass(void* data) {
        auto& gate = *static_cast<Gate*>(data);
        ++gate.entered_;
        gate.entered_.notify_all();
        gate.open_.wait(false);
        ++gate.passed_;
    }

    std::atomic<bool> open_ = false;
    std::atomic<int> entered_ = 0;
    std::atomic<int> passed_ = 0;
};
