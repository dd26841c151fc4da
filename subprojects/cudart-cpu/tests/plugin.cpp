// A plugin with one kernel, at the start of a page.
#include <cudart_cpu/kernel.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

#if PLUGIN == 1
__attribute__((aligned(4096))) void plugin_kernel(int* to, int value) {
    *to = value;
}
#else
struct Many {
    int values[16];
};
__attribute__((aligned(4096))) void plugin_kernel(Many many, int* to) {
    *to = many.values[15];
}
#endif

extern "C" __attribute__((visibility("default"))) const void* plugin_address() {
    return reinterpret_cast<const void*>(&plugin_kernel);
}

/// Launches the kernel, which writes `value`.
extern "C" __attribute__((visibility("default"))) cudaError_t plugin_launch(int* to, int value, cudaStream_t stream) {
    cudart_cpu::register_kernel(plugin_kernel);
#if PLUGIN == 1
    void* args[] = {&to, &value};
#else
    Many many{};
    many.values[15] = value;
    void* args[] = {&many, &to};
#endif
    return cudaLaunchKernel(plugin_address(), 1, 1, args, 0, stream);
}
