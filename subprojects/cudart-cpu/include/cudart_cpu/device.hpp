// The prelude of a .cu file compiled as C++ for the CPU runtime, included by the build.
#pragma once

// Permits headers to define device functions, as __CUDACC__ does for nvcc.
#define CUDART_CPU_DEVICE_CODE

// An assertion of a kernel fails the kernel, and one of the host's code ends the process, as elsewhere.
#define __assert_fail cudart_cpu_assert_fail

#include <cuda_runtime.h>

#include <cudart_cpu/detail/atomics.hpp>
#include <cudart_cpu/detail/graph.hpp>
#include <cudart_cpu/detail/grid_dependencies.hpp>
#include <cudart_cpu/detail/indices.hpp>
#include <cudart_cpu/detail/intrinsics.hpp>
#include <cudart_cpu/detail/math.hpp>
#include <cudart_cpu/detail/stub.hpp>
#include <cudart_cpu/detail/unsupported.hpp>

// nvcc includes these in every file.
#include <assert.h>
#include <stdio.h>
#include <string.h>

// Launch bounds limit the compiler on a GPU; they mean nothing here.
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

// These marks show kernels and variables in preprocessed text to tools/host_stubs.py.
#ifdef CUDART_CPU_MARKS_KERNELS
#undef __global__
#undef __device__
#undef __constant__
#if CUDART_VERSION >= 13000
#define __global__ __cudart_cpu_hidden_kernel__
#define __device__ __cudart_cpu_hidden_device__
#define __constant__ __cudart_cpu_hidden_device__
#else
#define __global__ __cudart_cpu_kernel__
#define __device__
#define __constant__
#endif
#endif
