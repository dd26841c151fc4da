// Several devices for one test, on the CPU runtime.
#pragma once

#include <cudag/builder.hpp>
#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include <cudart_cpu/control.hpp>

#include <cuda_runtime_api.h>

/// While it lives, there are `count` devices; `current` is this thread's at first, and 0 afterwards.
class SeveralDevices {
  public:
    explicit SeveralDevices(unsigned count, int current = 0) {
        static_cast<void>(cudag::GraphBuilder().build().instantiate()); // cudag asks a process once how many there are
        cudart_cpu::set_devices(count);
        if (current != 0) cudag::check(cudaSetDevice(current));
    }
    ~SeveralDevices() {
        cudag::check(cudaSetDevice(0));
        cudart_cpu::set_devices(0);
    }
    SeveralDevices(const SeveralDevices&) = delete;
    SeveralDevices& operator=(const SeveralDevices&) = delete;
};
