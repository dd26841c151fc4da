// A program that calls the driver, linked to it and by its name, beside the runtime.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>

#include <cstdio>

int main() {
    CUdeviceptr memory = 0;
    CUcontext context = nullptr;
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) return 1;
    if (cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, 4) != CUDA_SUCCESS) return 2;
    if (cuMemsetD32(memory, 42, 1) != CUDA_SUCCESS) return 3;
    int value = 0;
    if (cudaMemcpy(&value, reinterpret_cast<void*>(memory), 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return 5;
    const auto free_memory = reinterpret_cast<decltype(&cuMemFree)>(dlsym(driver, "cuMemFree_v2"));
    if (free_memory == nullptr || free_memory(memory) != CUDA_SUCCESS) return 6;
    std::printf("driver: %d\n", value);
}
