// Kernels as a program has them that was not compiled with them.
#pragma once

#include <cudag/library.hpp>

#include "cuda_version.hpp"
#include "test.hpp"

#ifdef CUDART_CPU
#include <cudart_cpu/device.hpp>
#include <cudart_cpu/kernel.hpp>

// What the text below says, for a runtime that has no compiler for it.
inline void library_fill(int* cells, int value) {
    cells[blockIdx.x] = value;
}
#endif

inline const char* const library_text = R"(
.version 8.0
.target sm_52
.address_size 64
.visible .entry library_fill(.param .u64 cells, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [cells];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

/// A library with the kernel library_fill(int* cells, int value), which fills one cell a block.
inline cudag::Library load_library() {
#ifdef CUDART_CPU
    cudart_cpu::register_library_kernel("library_fill", library_fill);
#endif
    return cudag::Library::from_ptx(library_text);
}

/// The same kernel as a Function that any of CUDA's libraries might hand out.
template <class... P>
cudag::Function function_of(void (*kernel)(P...)) {
    cudaKernel_t handle = nullptr;
    cudag::check(cudaGetKernel(&handle, cudag::detail::kernel_symbol(kernel)));
    return cudag::Function(handle);
}

/// Likewise, but of the current device only.
template <class... P>
cudag::Function device_function_of(void (*kernel)(P...)) {
    cudaFunction_t handle = nullptr;
    cudag::check(cudaGetFuncBySymbol(&handle, cudag::detail::kernel_symbol(kernel)));
    return cudag::Function(handle);
}
