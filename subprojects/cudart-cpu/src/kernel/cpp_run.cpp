// One launch of a kernel compiled as C++: its threads, one after the other.
#include "cpp_run.hpp"

#include "kernel_name.hpp"
#include "kernel_registry.hpp"
#include "runtime/call.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/source_line.hpp"
#include "runtime/text.hpp"

#include <cudart_cpu/detail/indices.hpp>

#include <assert.h>
#include <pthread.h>

#include <cstdio>
#include <exception>
#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local CppRun* cpp_run_here = nullptr;

/// Keeps the indices of an outer kernel: a kernel waiting for another may run it on this thread, in the midst of its
/// own run.
struct OuterKernel {
    OuterKernel() = default;
    OuterKernel(const OuterKernel&) = delete;
    OuterKernel& operator=(const OuterKernel&) = delete;
    ~OuterKernel() {
        threadIdx = thread;
        blockIdx = block;
        blockDim = block_size;
        gridDim = grid_size;
    }

    const uint3 thread = threadIdx;
    const uint3 block = blockIdx;
    const dim3 block_size = blockDim;
    const dim3 grid_size = gridDim;
};

class CppRunScope {
  public:
    explicit CppRunScope(CppRun& run) noexcept : outer_(std::exchange(cpp_run_here, &run)) {}
    CppRunScope(const CppRunScope&) = delete;
    CppRunScope& operator=(const CppRunScope&) = delete;
    ~CppRunScope() { cpp_run_here = outer_; }

  private:
    CppRun* outer_;
};

void run_threads(const KernelEntry& kernel, dim3 grid, dim3 block, void** args) {
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z) {
        for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y) {
            for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x) {
                for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z) {
                    for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y) {
                        for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) {
                            kernel.call(kernel.symbol, args);
                        }
                    }
                }
            }
        }
    }
}

/// Whether a fault at `address` is one of a full stack: the stack pointer is not above it, and it lies at the stack's
/// end.
bool is_overflow(const Fault& fault) {
    constexpr std::ptrdiff_t red_zone = 4096;
    constexpr std::ptrdiff_t end = 1024 * 1024;
    if (!fault.is_access || fault.stack_pointer == nullptr) return false;
    const auto* const at = static_cast<const char*>(fault.address);
    if (at < static_cast<const char*>(fault.stack_pointer) - red_zone) return false;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    void* low = nullptr;
    std::size_t bytes = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    return at < static_cast<const char*>(low) + end;
}

std::string place_in_grid(const uint3& index) {
    return text('(', index.x, ',', index.y, ',', index.z, ')');
}

} // namespace

CppRun* current_cpp_run() noexcept {
    return cpp_run_here != nullptr && !cpp_run_here->is_left ? cpp_run_here : nullptr;
}

OutsideCppRun::OutsideCppRun() noexcept : run_(current_cpp_run()) {
    if (run_ != nullptr) run_->is_left = true;
}

OutsideCppRun::~OutsideCppRun() {
    if (run_ != nullptr) run_->is_left = false;
}

void CppRun::fail(cudaError_t code, std::string&& reason, std::string&& place) {
    {
        const std::string own = std::move(reason); // destroyed here: nothing unwinds the abandoned frames
        const std::string line = std::move(place);
        is_left = true;
        set_kernel_failure(code, text("kernel ", readable_name(kernel_name(kernel).c_str()), ", block ",
                                      place_in_grid(blockIdx), ", thread ", place_in_grid(threadIdx),
                                      line.empty() ? "" : ", ", line, ": ", own));
    }
    std::longjmp(after, 1);
}

void CppRun::fail_at(Fault&& fault) {
    const cudaError_t code = fault.code;
    std::string reason = is_overflow(fault) ? "stack overflow" : std::move(fault.reason);
    std::string place = source_line(fault.instruction);
    { const Fault destroyed = std::move(fault); }
    fail(code, std::move(reason), std::move(place));
}

void run_cpp_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** args) {
    const OuterKernel outer;
    const KernelScope scope;
    const FaultSignals faults;
    CppRun run{kernel};
    const CppRunScope current(run);
    if (setjmp(run.after) != 0) return;
    try {
        run_threads(kernel, grid, block, args);
    } catch (const std::exception& thrown) {
        if (setjmp(run.after) == 0) run.fail(cudaErrorLaunchFailure, text("it threw: ", thrown.what()), {});
    }
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

/// What `assert` calls in files of kernels compiled as C++.
CUDART_CPU_API void cudart_cpu_assert_fail(const char* condition, const char* file, unsigned line,
                                           const char* function) {
    CppRun* const run = current_cpp_run();
    if (run == nullptr) __assert_fail(condition, file, line, function);
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, condition);
    run->fail(cudaErrorAssert, text("assertion ", condition, " failed"), text(file, ':', line));
}

/// What `__trap` calls in kernels compiled as C++.
CUDART_CPU_API void cudart_cpu_cpp_trap(const char* file, unsigned line) {
    CppRun* const run = current_cpp_run();
    if (run == nullptr) __builtin_trap();
    run->fail(cudaErrorLaunchFailure, "trap", text(file, ':', line));
}
