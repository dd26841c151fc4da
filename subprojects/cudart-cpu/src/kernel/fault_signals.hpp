// Faults: accesses of kernels to memory missing in the process.
#pragma once

namespace cudart_cpu::detail {

/// While an object lives, a fault of a kernel on this thread fails the kernel, and does not end the process.
class FaultSignals {
  public:
    FaultSignals();
    FaultSignals(const FaultSignals&) = delete;
    FaultSignals& operator=(const FaultSignals&) = delete;
    ~FaultSignals();
};

} // namespace cudart_cpu::detail
