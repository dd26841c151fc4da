// What a .cu file sees when it is compiled as C++ for the CPU runtime. Included before the file by the build.
#pragma once

// As __CUDACC__ does for nvcc: tells headers that device functions may be defined.
#define CUDART_CPU_DEVICE_CODE

#include <cuda_runtime.h>

#include <cudart_cpu/detail/atomics.hpp>
#include <cudart_cpu/detail/graph.hpp>
#include <cudart_cpu/detail/grid_dependencies.hpp>
#include <cudart_cpu/detail/indices.hpp>
#include <cudart_cpu/detail/intrinsics.hpp>
#include <cudart_cpu/detail/math.hpp>
#include <cudart_cpu/detail/stub.hpp>
#include <cudart_cpu/detail/unsupported.hpp>

// nvcc gives every file these.
#include <assert.h>
#include <stdio.h>
#include <string.h>

// Bounds what the compiler may use on a GPU; means nothing here.
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif

// Where tools/host_stubs.py finds kernels and variables in what the preprocessor made.
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
