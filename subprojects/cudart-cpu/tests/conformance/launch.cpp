// Kernel launches into streams.
#include "nodes.hpp"

#include <algorithm>
#include <string>
#include <vector>

TEST_CASE("a kernel runs once for every thread of the grid", "[launch]") {
    Stream stream;
    DeviceInts count(1);
    count.write({0});
    Call plus(add, count.data(), 0, 1);
    plus.grid = dim3(3, 2, 2);
    plus.block = dim3(4, 2, 2);
    plus.launch(stream);
    stream.synchronize();
    REQUIRE(count.read() == std::vector{192});
}

TEST_CASE("every thread knows its place in a three-dimensional grid", "[launch]") {
    Stream stream;
    constexpr int blocks = 2 * 3 * 2;
    constexpr int threads = 4 * 2 * 3;
    DeviceInts out(blocks * threads);
    Call call(write_block_index, out.data());
    call.grid = dim3(2, 3, 2);
    call.block = dim3(4, 2, 3);
    call.launch(stream);
    stream.synchronize();
    std::vector<int> expected;
    for (int block = 0; block < blocks; ++block) {
        expected.insert(expected.end(), threads, block);
    }
    REQUIRE(out.read() == expected);
}

TEST_CASE("arguments of every size arrive", "[launch]") {
    Stream stream;
    double* out = nullptr;
    REQUIRE_CUDA(cudaMallocHost(reinterpret_cast<void**>(&out), 9 * sizeof(double)));
    Call call(write_arguments, out, char{-3}, short{-300}, 70000, -5000000000LL, 1.5F, 2.25, Triple{3.5F, 4.5F, 5.5F});
    call.launch(stream);
    stream.synchronize();
    const std::vector<double> values(out, out + 9);
    REQUIRE_CUDA(cudaFreeHost(out));
    REQUIRE(values == std::vector<double>{-3, -300, 70000, -5000000000.0, 1.5, 2.25, 3.5, 4.5, 5.5});
}

/// What nvcc makes of `<<<>>>`, before the call of the kernel.
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream);

TEST_CASE("a kernel of another file is launched by a call with its configuration", "[launch]") {
    Stream stream;
    DeviceInts data(2 * 12);
    data.write(std::vector<int>(24, -1));
    REQUIRE(__cudaPushCallConfiguration(dim3(2), dim3(4, 3), 0, stream) == 0);
    write_block_index(data.data());
    REQUIRE_CUDA(cudaGetLastError());
    stream.synchronize();
    std::vector<int> expected(24);
    std::fill(expected.begin() + 12, expected.end(), 1);
    REQUIRE(data.read() == expected);

    double* out = nullptr;
    REQUIRE_CUDA(cudaMallocHost(reinterpret_cast<void**>(&out), 9 * sizeof(double)));
    REQUIRE(__cudaPushCallConfiguration(1, 1, 0, stream) == 0);
    write_arguments(out, -3, -300, 70000, -5000000000LL, 1.5F, 2.25, Triple{3.5F, 4.5F, 5.5F});
    stream.synchronize();
    const std::vector<double> values(out, out + 9);
    REQUIRE_CUDA(cudaFreeHost(out));
    REQUIRE(values == std::vector<double>{-3, -300, 70000, -5000000000.0, 1.5, 2.25, 3.5, 4.5, 5.5});
}

TEST_CASE("a captured call of a kernel with its configuration becomes a node", "[launch]") {
    Stream stream;
    DeviceInts data(1);
    data.write({0});
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE(__cudaPushCallConfiguration(3, 4, 0, stream) == 0);
    add(data.data(), 0, 1);
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i)
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    stream.synchronize();
    REQUIRE(data.read() == std::vector{24});
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("a kernel that is called without a configuration does not run", "[launch]") {
    DeviceInts data(1);
    data.write({7});
    store(data.data(), 0, 1);
    REQUIRE(cudaGetLastError() == cudaErrorMissingConfiguration);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{7});
}

TEST_CASE("arguments are copied by the launch", "[launch]") {
    Stream stream;
    DeviceInts data(2);
    Call set(store, data.data(), 0, 1);
    set.launch(stream);
    set.argument<1>() = 1;
    set.argument<2>() = 2;
    set.launch(stream);
    set.argument<2>() = 3;
    stream.synchronize();
    REQUIRE(data.read() == std::vector{1, 2});
}

TEST_CASE("a launch that the device cannot run is refused", "[launch]") {
    void* kernel = symbol(nothing);
    const auto launch = [&](dim3 grid, dim3 block, std::size_t shared) {
        return cudaLaunchKernel(kernel, grid, block, nullptr, shared, nullptr);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(0), dim3(1), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1, 65536), dim3(1), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1), dim3(0), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1), dim3(2048), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1), dim3(32, 33), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1), dim3(1, 1, 65), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, launch(dim3(1), dim3(1), 49153));
    REQUIRE_CUDA(launch(dim3(1), dim3(1), 49152));
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("a function that is no kernel cannot be launched", "[launch]") {
    const auto function = reinterpret_cast<void*>(&not_a_kernel);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle,
                       cudaLaunchKernel(function, dim3(1), dim3(1), nullptr, 0, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction,
                       cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr));
}

TEST_CASE("a kernel with parameters cannot be launched without arguments", "[launch]") {
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLaunchKernel(symbol(store), dim3(1), dim3(1), nullptr, 0, nullptr));
}

TEST_CASE("a kernel may be launched by the function handle of its symbol", "[launch]") {
    DeviceInts data(1);
    Call set(store, data.data(), 0, 5);
    cudaFunction_t function = nullptr;
    REQUIRE_CUDA(cudaGetFuncBySymbol(&function, set.function()));
    REQUIRE_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(function), dim3(1), dim3(1), set.arguments(), 0, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{5});
}

TEST_CASE("a launch configuration with attributes launches too, under the same limits", "[launch]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 5);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    config.stream = stream;
    REQUIRE_CUDA(cudaLaunchKernelExC(&config, set.function(), set.arguments()));
    stream.synchronize();
    REQUIRE(data.read() == std::vector{5});
    config.blockDim = dim3(2048);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLaunchKernelExC(&config, set.function(), set.arguments()));
}

TEST_CASE("the attributes of a kernel", "[launch][function]") {
    cudaFuncAttributes attributes{};
    REQUIRE_CUDA(cudaFuncGetAttributes(&attributes, symbol(store)));
    REQUIRE(attributes.maxThreadsPerBlock == 1024);
    REQUIRE(attributes.sharedSizeBytes == 0);
    REQUIRE(attributes.maxDynamicSharedSizeBytes == 49152);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, symbol(store)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle,
                       cudaFuncGetAttributes(&attributes, reinterpret_cast<void*>(&not_a_kernel)));
}

TEST_CASE("more dynamic shared memory is allowed after the kernel's attribute is raised", "[launch][function]") {
    void* kernel = symbol(nothing);
    const auto raise = [&](int bytes) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, raise(232449));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, raise(-1));
    REQUIRE_CUDA(raise(232448));
    REQUIRE_CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 232448, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(raise(49152));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 49153, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle,
                       cudaFuncSetAttribute(reinterpret_cast<void*>(&not_a_kernel),
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
}

TEST_CASE("a kernel's name is its mangled name", "[launch][function]") {
    const char* name = nullptr;
    REQUIRE_CUDA(cudaFuncGetName(&name, symbol(store)));
    REQUIRE(name == std::string("_Z5storePiii"));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFuncGetName(nullptr, symbol(store)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, cudaFuncGetName(&name, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaFuncGetName(&name, reinterpret_cast<void*>(&not_a_kernel)));
}

TEST_CASE("only a kernel's symbol has a function handle, always the same", "[launch][function]") {
    cudaFunction_t function = nullptr;
    cudaFunction_t again = nullptr;
    REQUIRE_CUDA(cudaGetFuncBySymbol(&function, symbol(store)));
    REQUIRE_CUDA(cudaGetFuncBySymbol(&again, symbol(store)));
    REQUIRE(function != nullptr);
    REQUIRE(function == again);
    REQUIRE_CUDA(cudaGetFuncBySymbol(&again, symbol(nothing)));
    REQUIRE(function != again);

    int on_stack = 0;
    const auto refused = [&](const void* pointer) { return cudaGetFuncBySymbol(&again, pointer); };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, refused(reinterpret_cast<void*>(&not_a_kernel)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, refused(nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, refused(&on_stack));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, refused(function));
}
