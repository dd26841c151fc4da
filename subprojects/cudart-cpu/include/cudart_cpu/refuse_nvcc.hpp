// A guard for build systems: included first, it stops nvcc from compiling kernels of a program on the CPU runtime.
#ifndef CUDART_CPU_NVCC
#error                                                                                                                 \
    "cudart-cpu: this program is linked to the CPU runtime, which cannot run kernels that nvcc compiled; with CMake, set CMAKE_CUDA_COMPILER to cudart-cpu-nvcc, or give the .cu files to cudag_add_kernels(target x.cu ...) instead of add_executable"
#endif
