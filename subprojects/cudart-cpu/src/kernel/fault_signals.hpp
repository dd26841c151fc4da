// Faults of kernels: signals that would end the process.
#pragma once

#include <driver_types.h>

#include <string>

namespace cudart_cpu::detail {

/// A signal raised by a kernel's own instruction.
struct Fault {
    cudaError_t code;
    std::string reason;
    bool is_access; ///< of `address`
    const void* address;
    const void* instruction;   ///< null if it is unknown
    const void* stack_pointer; ///< null if it is unknown
};

/// While an object lives, a fault of a kernel on this thread fails the kernel, and does not end the process.
class FaultSignals {
  public:
    FaultSignals();
    FaultSignals(const FaultSignals&) = delete;
    FaultSignals& operator=(const FaultSignals&) = delete;
    ~FaultSignals();
};

} // namespace cudart_cpu::detail
