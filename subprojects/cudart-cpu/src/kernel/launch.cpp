// Checks and runs of kernels.
#include "cpp_run.hpp"
#include "kernel_name.hpp"
#include "kernel_registry.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/text.hpp"

#include <cudart_cpu/detail/indices.hpp>

#include <string>
#include <utility>

namespace cudart_cpu::detail {

namespace {

[[noreturn]] void refuse_configuration(std::string reason) {
    fail(cudaErrorInvalidValue, std::move(reason));
}

void validate_grid_dimension(char name, unsigned size, unsigned max) {
    if (size == 0) {
        refuse_configuration(text("Grid Dimension ", name, " must be nonzero"));
    }
    if (size > max) {
        refuse_configuration(text("Grid Dimension ", name, " of ", size, " exceeds maximum value of ", max));
    }
}

void validate_block(dim3 block) {
    if (block.x == 0 || block.y == 0 || block.z == 0) {
        refuse_configuration(
            text("Block dimensions ", block, " include one or more zero values. All dimensions must be nonzero"));
    }
    if (block.x > max_block[0] || block.y > max_block[1] || block.z > max_block[2]) {
        // The driver's spelling.
        refuse_configuration(text("One or more of block dimensions of ", block,
                                  " exceeds correspsonding maximum value of ",
                                  dim3(max_block[0], max_block[1], max_block[2])));
    }
    const std::size_t threads = std::size_t{block.x} * block.y * block.z;
    if (threads > max_threads_per_block) {
        refuse_configuration(
            text("Requested block size of ", threads, " threads exceeds device maximum ", max_threads_per_block));
    }
}

thread_local unsigned kernels_on_stack = 0;

void refuse_untranslated(const KernelEntry& kernel) {
    if (kernel.translated == nullptr) return;
    const auto refuse_aloud = [](cudaError_t code, const std::string& reason) {
        tell_refusal(reason);
        fail(code, reason);
    };
    if (kernel.translated->refusal != nullptr)
        refuse_aloud(cudaErrorNotSupported, text(kernel.translated->refusal, ", so cudart-cpu cannot run kernel ",
                                                 readable_name(kernel.translated->name)));
    if (!kernel.module->supported())
        refuse_aloud(cudaErrorNoKernelImageForDevice,
                     text("kernel ", readable_name(kernel.translated->name),
                          " was compiled for a processor that has more than this one"));
}

} // namespace

void validate_launch(const KernelEntry& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                     unsigned shared_memory_mode) {
    refuse_untranslated(kernel);
    validate_grid_dimension('X', grid.x, max_grid[0]);
    validate_grid_dimension('Y', grid.y, max_grid[1]);
    validate_grid_dimension('Z', grid.z, max_grid[2]);
    validate_block(block);
    if (kernel.translated != nullptr && kernel.translated->max_threads != 0 &&
        block.x * block.y * block.z > kernel.translated->max_threads)
        refuse_configuration(text("Requested block size of ", block.x * block.y * block.z,
                                  " threads exceeds the kernel's maximum of ", kernel.translated->max_threads));
    const int shared_limit = shared_memory_mode == 0   ? kernel.max_dynamic_shared_bytes.load(std::memory_order_relaxed)
                             : shared_memory_mode == 1 ? static_shared_limit
                                                       : optin_shared_limit;
    if (shared_bytes > static_cast<std::size_t>(shared_limit)) {
        refuse_configuration(text("Requested dynamic shared memory size of ", shared_bytes,
                                  " bytes exceeds maximum dynamic shared memory size of ", shared_limit, " bytes"));
    }
}

KernelScope::KernelScope() noexcept {
    ++kernels_on_stack;
}

KernelScope::~KernelScope() {
    --kernels_on_stack;
}

bool is_in_kernel() noexcept {
    return kernels_on_stack > 0;
}

void run_kernel(const KernelEntry& kernel, dim3 grid, dim3 block, void** args, const LaunchExtent& extent) {
    if (kernel_failure() != cudaSuccess) return;
    if (kernel.translated != nullptr) {
        std::make_shared<GridRun>(*kernel.module, *kernel.translated, grid, block, extent, args)->run();
        return;
    }
    run_cpp_kernel(kernel, grid, block, args);
}

} // namespace cudart_cpu::detail

CUDART_CPU_INDEX uint3 threadIdx{};
CUDART_CPU_INDEX uint3 blockIdx{};
CUDART_CPU_INDEX dim3 blockDim{};
CUDART_CPU_INDEX dim3 gridDim{0, 0, 0}; // the value outside kernels; kernel stubs rely on it
