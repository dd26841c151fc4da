// Accesses of kernels to memory that the process does not have.
#pragma once

namespace cudart_cpu::detail {

/// While one lives, such an access by a kernel on this thread is the kernel's failure, not the end of the process.
class FaultSignals {
  public:
    FaultSignals();
    FaultSignals(const FaultSignals&) = delete;
    FaultSignals& operator=(const FaultSignals&) = delete;
    ~FaultSignals();
};

} // namespace cudart_cpu::detail
