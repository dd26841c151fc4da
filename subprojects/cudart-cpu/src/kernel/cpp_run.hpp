// One launch of a kernel compiled as C++: its threads, one after the other.
#pragma once

#include "fault_signals.hpp"

#include <cuda_runtime_api.h>

#include <csetjmp>

namespace cudart_cpu::detail {

struct KernelEntry;

/// The run of a kernel compiled as C++. A failure leaves it by a jump, without destructors of the kernel's own objects.
struct CppRun {
    const KernelEntry& kernel;
    bool is_left = false;
    std::jmp_buf after{};

    /// Records the failure of the running thread, and leaves the kernel. `place` is empty if the line is unknown.
    [[noreturn]] void fail(cudaError_t code, std::string&& reason, std::string&& place);
    [[noreturn]] void fail_at(Fault&& fault);
};

/// The innermost run on this thread; null if there is none, or if it has failed.
CppRun* current_cpp_run() noexcept;

/// While an object lives, this thread runs other code in the midst of a kernel.
class OutsideCppRun {
  public:
    OutsideCppRun() noexcept;
    OutsideCppRun(const OutsideCppRun&) = delete;
    OutsideCppRun& operator=(const OutsideCppRun&) = delete;
    ~OutsideCppRun();

  private:
    CppRun* run_;
};

void run_cpp_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** args);

} // namespace cudart_cpu::detail
