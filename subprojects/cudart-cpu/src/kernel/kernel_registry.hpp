// The kernels that this process has registered: how to name, check and run them.
#pragma once

#include "grid_run.hpp"

#include <cudart_cpu/detail/ptx/thread.hpp>
#include <cudart_cpu/kernel.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cudart_cpu::detail {

class FatBinary;

struct KernelEntry {
    KernelEntry(const void* kernel_symbol, CallThunk thunk, std::vector<ParamLayout> layout)
        : symbol(kernel_symbol), call(thunk), params(std::move(layout)) {}

    const void* symbol;
    CallThunk call;
    /// What nvcc compiled, translated: null for kernels that are C++.
    const ptx::ModuleRow* module = nullptr;
    const ptx::KernelRow* translated = nullptr;
    const FatBinary* binary = nullptr; ///< of a translated kernel
    std::vector<ParamLayout> params;
    /// Bytes; raised by cudaFuncSetAttribute.
    mutable std::atomic<int> max_dynamic_shared_bytes{48 * 1024};
    /// Set by cudaFuncSetAttribute.
    mutable std::atomic<bool> allows_large_clusters{false};
    /// Known by a name that is not its symbol's: only libraries give it.
    mutable std::atomic<bool> is_of_library{false};
    /// It came with a shared object that was loaded as a library: PTX texts do not name it.
    mutable std::atomic<bool> is_of_module{false};
    /// Only its address means something: the cudaFunction_t. The cudaKernel_t is the address of the entry itself.
    const char function_handle = 0;
};

/// What may stand for a kernel.
enum class Forms {
    symbol,            ///< the function's address: cudaGetFuncBySymbol, cudaGetKernel
    symbol_or_kernel,  ///< or its cudaKernel_t (CUkernel): the runtime's functions, but not its launches
    symbol_or_handles, ///< or its cudaFunction_t (CUfunction): launches
};

/// Null for what is no registered kernel. Entries live for ever. Translates what nvcc compiled for NVIDIA's runtime.
const KernelEntry* find_kernel(const void* function, Forms forms = Forms::symbol_or_handles);

/// As find_kernel, but throws: cudaErrorInvalidDeviceFunction for null, else `unknown`, with a line that says how to
/// register the kernel.
const KernelEntry& kernel_of(const void* function, cudaError_t unknown = cudaErrorInvalidResourceHandle,
                             Forms forms = Forms::symbol_or_handles);

/// Also the CUfunction.
cudaFunction_t function_of(const KernelEntry& kernel);

/// A kernel that nvcc compiled: `name` is mangled. `module` is what its fat binary was translated to; null if it was
/// not, or not yet.
void note_nvcc_kernel(const FatBinary& binary, const void* symbol, const char* name, const ptx::ModuleRow* module);
void forget_nvcc_kernels(const FatBinary* binary) noexcept;

/// The registered kernel that name_kernel or its symbol gives this name; null if there is none. Not one of a shared
/// object that is a library.
const KernelEntry* find_kernel_named(const std::string& name);

/// Those registered by the shared object that `place` is in, which a library is, by name.
std::vector<const KernelEntry*> take_kernels_of_module(const void* place);

/// A kernel of this name that has no parameters and does nothing; the same for the same name.
const KernelEntry& empty_kernel_named(const std::string& name);

/// Mangled, as cudaFuncGetName gives it; lives as long as the process.
const std::string& kernel_name(const KernelEntry& kernel);

/// How many blocks fit on a multiprocessor at once.
int active_blocks(int block_size, std::size_t shared_bytes);

/// Throws cudaErrorInvalidValue if an H200 could not launch this.
void validate_launch(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                     unsigned shared_memory_mode = 0);

/// Whether this thread runs a kernel.
bool is_in_kernel() noexcept;

/// While one lives, this thread runs a kernel.
class KernelScope {
  public:
    KernelScope() noexcept;
    KernelScope(const KernelScope&) = delete;
    KernelScope& operator=(const KernelScope&) = delete;
    ~KernelScope();
};

/// Runs every thread of every block: of a kernel that is C++ one after the other, on this thread; of one that was
/// translated as it needs them, on all cores.
void run_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** args, const LaunchExtent& extent = {});

} // namespace cudart_cpu::detail
