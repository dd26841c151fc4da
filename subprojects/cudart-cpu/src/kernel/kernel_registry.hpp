// The kernels registered by this process: their names, checks and runs.
#pragma once

#include "grid_run.hpp"
#include "runtime/device_model.hpp"

#include <cudart_cpu/detail/ptx/thread.hpp>
#include <cudart_cpu/kernel.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <optional>
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
    /// The translation of a kernel compiled by nvcc; null for C++ kernels.
    const ptx::ModuleRow* module = nullptr;
    const ptx::KernelRow* translated = nullptr;
    const FatBinary* binary = nullptr; ///< set for a translated kernel
    std::vector<ParamLayout> params;
    /// Bytes; raised by cudaFuncSetAttribute.
    mutable std::atomic<int> max_dynamic_shared_bytes{48 * 1024};
    /// Set by cudaFuncSetAttribute.
    mutable std::atomic<bool> allows_large_clusters{false};
    /// Known by a name other than its symbol's: only libraries give it.
    mutable std::atomic<bool> is_of_library{false};
    /// Registered by a shared object loaded as a library: PTX texts do not name it.
    mutable std::atomic<bool> is_of_module{false};
    /// Their addresses are the cudaFunction_t of each device; their values mean nothing. The cudaKernel_t is the
    /// address of the entry itself.
    const char function_handles[max_devices] = {};
};

/// The forms accepted for a kernel.
enum class Forms {
    symbol,            ///< the function's address: cudaGetFuncBySymbol, cudaGetKernel
    symbol_or_kernel,  ///< or its cudaKernel_t (CUkernel): the runtime's functions, but not its launches
    symbol_or_handles, ///< or its cudaFunction_t (CUfunction): launches
};

/// Returns null if there is no such kernel. Entries live for ever. Translates kernels of nvcc's for NVIDIA's runtime.
const KernelEntry* find_kernel(const void* function, Forms forms = Forms::symbol_or_handles);

/// Finds a kernel like find_kernel, but throws: cudaErrorInvalidDeviceFunction for null, else `unknown`, with
/// instructions for registering the kernel.
const KernelEntry& kernel_of(const void* function, cudaError_t unknown = cudaErrorInvalidResourceHandle,
                             Forms forms = Forms::symbol_or_handles);

/// The kernel's cudaFunction_t of a device, also its CUfunction.
cudaFunction_t function_of(const KernelEntry& kernel, int device = current_device());
/// The device of a cudaFunction_t; none for another handle.
std::optional<int> device_of_function(const void* handle);

/// Registers a kernel compiled by nvcc: `name` is mangled. `module` is the translation of its fat binary; null if there
/// is none, or none yet.
void note_nvcc_kernel(const FatBinary& binary, const void* symbol, const char* name, const ptx::ModuleRow* module);
void forget_nvcc_kernels(const FatBinary* binary) noexcept;

/// The registered kernel with this name, by name_kernel or its symbol; null if there is none. Excludes kernels of
/// shared objects loaded as libraries.
const KernelEntry* find_kernel_named(const std::string& name);

/// Makes the shared object around `place` a library, and returns its registered kernels in the order of their names.
std::vector<const KernelEntry*> take_kernels_of_module(const void* place);

/// Returns a kernel of this name without parameters and without an effect; the same one for the same name.
const KernelEntry& empty_kernel_named(const std::string& name);

/// The mangled name, as in cudaFuncGetName; lives as long as the process.
const std::string& kernel_name(const KernelEntry& kernel);

/// The number of blocks that fit on a multiprocessor at once.
int active_blocks(int block_size, std::size_t shared_bytes);

/// Throws cudaErrorInvalidValue if an H200 could not launch the kernel in this way.
void validate_launch(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                     unsigned shared_memory_mode = 0);

/// Whether this thread runs a kernel.
bool is_in_kernel() noexcept;

/// While an object lives, this thread runs a kernel.
class KernelScope {
  public:
    KernelScope() noexcept;
    KernelScope(const KernelScope&) = delete;
    KernelScope& operator=(const KernelScope&) = delete;
    ~KernelScope();
};

/// Runs every thread of every block. Threads of a C++ kernel run one after the other, on this thread; threads of a
/// translated kernel run as it needs them, on all cores.
void run_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** args, const LaunchExtent& extent = {});

} // namespace cudart_cpu::detail
