// The version, the language requirement, symbol visibility, and annotations for nvcc.
#pragma once

#define CUDAG_VERSION_MAJOR 0
#define CUDAG_VERSION_MINOR 1
#define CUDAG_VERSION_PATCH 0
/// The version as one number, 10000 * major + 100 * minor + patch, for `#if CUDAG_VERSION >= ...`.
#define CUDAG_VERSION (CUDAG_VERSION_MAJOR * 10000 + CUDAG_VERSION_MINOR * 100 + CUDAG_VERSION_PATCH)

#if __cplusplus < 202002L
#error "cudag needs C++20: -std=c++20, also for cudag-kernels; a Meson project sets default_options: ['cpp_std=c++20']"
#endif

#ifndef __cpp_exceptions
#error "cudag reports errors by exceptions: compile without -fno-exceptions"
#endif

#define CUDAG_EXPORT __attribute__((visibility("default")))

#ifdef __CUDACC__
#define CUDAG_HOST_DEVICE __host__ __device__
#else
#define CUDAG_HOST_DEVICE
#endif

/// This macro is defined wherever device functions are compiled: by nvcc, and in the .cu files of the CPU runtime.
#if defined(__CUDACC__) || defined(CUDART_CPU_DEVICE_CODE)
#define CUDAG_DEVICE_CODE
#endif

/// This macro ends the declaration of a function that only kernels may call.
#ifdef CUDAG_DEVICE_CODE
#define CUDAG_DEVICE_ONLY
#else
#define CUDAG_DEVICE_ONLY = delete
#endif
