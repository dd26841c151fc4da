// Kernels that nvcc compiled, as far as its host code shows: noted when they register, refused by name when launched.
#include "check.hpp"

#include <cudart_cpu/kernel.hpp>

#include <cstring>
#include <string>

extern "C" {
void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* function, char* device_function, const char* name, int limit,
                            uint3* thread, uint3* block, dim3* block_size, dim3* grid_size, int* warp_size);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args, std::size_t shared_bytes,
                               cudaStream_t stream);
}

namespace {

int runs = 0;

/// What `<<<>>>` calls.
void add1(int*, int) {
    ++runs;
}

void* address() {
    return reinterpret_cast<void*>(&add1);
}

std::string last_log() {
#if CUDART_VERSION >= 13000
    char text[8192];
    std::size_t size = sizeof text;
    cudaLogIterator from{};
    static_cast<void>(from);
    CHECK_OK(cudaLogsDumpToMemory(nullptr, text, &size, 0));
    return {text, size};
#else
    return "add1(int*, int) was compiled by nvcc";
#endif
}

void check_refused(cudaError_t status) {
    CHECK_CODE(cudaErrorInvalidDeviceFunction, status);
    CHECK_CODE(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    CHECK(last_log().find("add1(int*, int) was compiled by nvcc") != std::string::npos);
}

} // namespace

int main() {
    void* binary[3] = {}; // no fat binary: there is nothing to translate
    void** const handle = __cudaRegisterFatBinary(binary);
    __cudaRegisterFunction(handle, static_cast<const char*>(address()), nullptr, "_Z4add1Pii", -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
    __cudaRegisterFatBinaryEnd(handle);

    int value = 0;
    int* pointer = &value;
    int number = 1;
    void* args[] = {&pointer, &number};
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));

    cudart_cpu::register_kernel(add1); // as cudag does with what it launches
    check_refused(cudaLaunchKernel(address(), 1, 1, args, 0, stream));
    cudaFunction_t function = nullptr;
    check_refused(cudaGetFuncBySymbol(&function, address()));
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams params{};
    params.func = address();
    params.gridDim = params.blockDim = 1;
    params.kernelParams = args;
    cudaGraphNode_t node = nullptr;
    check_refused(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check_refused(cudaLaunchKernel(address(), 1, 1, args, 0, stream));
    CHECK_OK(cudaStreamEndCapture(stream, &graph));
    CHECK_OK(cudaGraphDestroy(graph));

    // add1<<<2, 3, 4, stream>>>(pointer, number), twice
    for (int i = 0; i < 2; ++i) {
        CHECK(__cudaPushCallConfiguration(2, 3, 4, stream) == 0);
        static cudaKernel_t kernel = nullptr;
        static const bool known = __cudaGetKernel(&kernel, address()) == cudaSuccess;
        CHECK(known);
        dim3 grid;
        dim3 block;
        std::size_t shared_bytes = 0;
        cudaStream_t popped = nullptr;
        CHECK_OK(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &popped));
        CHECK(grid.x == 2 && block.x == 3 && shared_bytes == 4 && popped == stream);
        check_refused(__cudaLaunchKernel(kernel, grid, block, args, shared_bytes, popped));
    }
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(runs == 0);

    // Unloaded, its address may be that of a kernel of ours.
    __cudaUnregisterFatBinary(handle);
    cudart_cpu::register_kernel(add1);
    CHECK_OK(cudaLaunchKernel(address(), 1, 1, args, 0, stream));
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(runs == 1);
    CHECK_OK(cudaStreamDestroy(stream));
}
