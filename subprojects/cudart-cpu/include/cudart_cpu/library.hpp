// Kernels in a shared object loaded as a library.
#pragma once

#include <cudart_cpu/kernel.hpp>

namespace cudart_cpu {

/// Names the kernels of a shared object for cudaLibraryLoadData and cudaLibraryLoadFromFile, by a variable of static
/// storage in it:
///
///     static const cudart_cpu::LibraryKernels kernels(scale, shift);
///
/// Each is found by its mangled name, or by its name if it is `extern "C"`.
struct LibraryKernels {
    template <class... Callable>
    explicit LibraryKernels(Callable*... kernels) {
        (register_kernel(kernels), ...);
    }
};

} // namespace cudart_cpu
