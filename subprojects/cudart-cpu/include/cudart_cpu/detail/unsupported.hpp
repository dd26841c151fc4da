// Compile-time errors for functions that need the threads of a block to run together.
// Kernels compiled as C++ cannot have them; the errors name nvcc, the remedy.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

// This follows cuda_runtime.h: its empty definition would make a shared array a separate one for each thread.
#undef __shared__
#define __shared__                                                                                                     \
    _Pragma("GCC error \"cudart-cpu: __shared__ memory needs nvcc (option kernels): as C++, threads run one by one\"")

#define CUDART_CPU_UNSUPPORTED(name)                                                                                   \
    template <class... Args>                                                                                           \
    inline int name(Args...) {                                                                                         \
        static_assert(sizeof...(Args) == ~std::size_t{0},                                                              \
                      "cudart-cpu: " #name " needs nvcc (option kernels): as C++, threads run one by one");            \
        return 0;                                                                                                      \
    }

CUDART_CPU_UNSUPPORTED(__syncthreads)
CUDART_CPU_UNSUPPORTED(__syncthreads_count)
CUDART_CPU_UNSUPPORTED(__syncthreads_and)
CUDART_CPU_UNSUPPORTED(__syncthreads_or)
CUDART_CPU_UNSUPPORTED(__syncwarp)
CUDART_CPU_UNSUPPORTED(__activemask)
CUDART_CPU_UNSUPPORTED(__shfl_sync)
CUDART_CPU_UNSUPPORTED(__shfl_up_sync)
CUDART_CPU_UNSUPPORTED(__shfl_down_sync)
CUDART_CPU_UNSUPPORTED(__shfl_xor_sync)
CUDART_CPU_UNSUPPORTED(__all_sync)
CUDART_CPU_UNSUPPORTED(__any_sync)
CUDART_CPU_UNSUPPORTED(__ballot_sync)
CUDART_CPU_UNSUPPORTED(__match_any_sync)
CUDART_CPU_UNSUPPORTED(__match_all_sync)
CUDART_CPU_UNSUPPORTED(__reduce_add_sync)
CUDART_CPU_UNSUPPORTED(__reduce_min_sync)
CUDART_CPU_UNSUPPORTED(__reduce_max_sync)

#undef CUDART_CPU_UNSUPPORTED
