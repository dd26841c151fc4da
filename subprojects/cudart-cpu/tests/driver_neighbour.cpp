// The driver by its name, in a program that is linked to the CPU runtime alone: one memory, one set of streams, one
// current context, whichever calls a program makes.
#include "check.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>

#define CALL(name) driver_function<decltype(&name)>(CALL_TEXT(name))
#define CALL_TEXT(name) #name
#define CHECK_DRIVER(call) CHECK((call) == CUDA_SUCCESS)

// CUDA deprecates cudaGetDriverEntryPoint, but programs call it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

template <class Function>
Function driver_function(const char* symbol) {
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver != nullptr);
    void* const found = dlsym(driver, symbol);
    CHECK(found != nullptr);
    return reinterpret_cast<Function>(found);
}

} // namespace

int main() {
    CHECK_DRIVER(CALL(cuInit)(0));
    CUcontext context = nullptr;
    CHECK_DRIVER(CALL(cuCtxGetCurrent)(&context));
    CHECK(context == nullptr); // the driver alone makes none
    int* memory = nullptr;
    CHECK_OK(cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
    CHECK_DRIVER(CALL(cuCtxGetCurrent)(&context));
    CHECK(context != nullptr);
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto address = reinterpret_cast<CUdeviceptr>(memory);
    CHECK_DRIVER(CALL(cuMemsetD32Async)(address, 3, 1, stream));
    CHECK_OK(cudaStreamSynchronize(stream));
    int value = 0;
    CHECK_OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 3);

    // A failed call of the driver leaves the runtime's last error alone.
    CHECK(CALL(cuMemFree)(1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(CALL(cuStreamDestroy)(nullptr) != CUDA_SUCCESS);
    CHECK_CODE(cudaSuccess, cudaPeekAtLastError());

    // Both ways to an address lead to one function.
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
    CHECK_OK(cudaGetDriverEntryPoint("cuMemFree", &found, cudaEnableDefault, &status));
    void* same = nullptr;
    CHECK_DRIVER(CALL(cuGetProcAddress)("cuMemFree", &same, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    CHECK(found == same);
    CHECK_OK(cudaGetDriverEntryPoint("cuStreamQuery", &found, cudaEnablePerThreadDefaultStream, &status));
    CHECK_DRIVER(
        CALL(cuGetProcAddress)("cuStreamQuery", &same, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
    CHECK(found == same);

    // A context taken away comes back with the runtime's next call.
    CHECK_DRIVER(CALL(cuCtxPopCurrent)(&context));
    CUcontext none = context;
    CHECK_DRIVER(CALL(cuCtxGetCurrent)(&none));
    CHECK(none == nullptr);
    CHECK(CALL(cuCtxSynchronize)() == CUDA_ERROR_INVALID_CONTEXT);
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_DRIVER(CALL(cuCtxGetCurrent)(&none));
    CHECK(none == context);
    CHECK_DRIVER(CALL(cuMemFree)(address));
    CHECK_CODE(cudaErrorInvalidValue, cudaFree(memory));
    CHECK_OK(cudaStreamDestroy(stream));
}
