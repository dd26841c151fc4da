// threadIdx and friends: thread-local variables, set by the runtime before each call of a kernel.
#pragma once

#include <vector_types.h>

// The toolkit's header declares the same names without thread_local.
#define __DEVICE_LAUNCH_PARAMETERS_H__

/// Visible to the user's code, and initial-exec: kernels read these in their innermost loops.
#define CUDART_CPU_INDEX __attribute__((visibility("default"), tls_model("initial-exec"))) constinit thread_local

extern CUDART_CPU_INDEX uint3 threadIdx;
extern CUDART_CPU_INDEX uint3 blockIdx;
extern CUDART_CPU_INDEX dim3 blockDim;
extern CUDART_CPU_INDEX dim3 gridDim;

inline constexpr int warpSize = 32;
