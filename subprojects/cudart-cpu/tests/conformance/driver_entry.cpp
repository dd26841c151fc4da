// Entry points of the driver: how they are found, and those for functions and memory.
#include "driver.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

TEST_CASE("an entry point is found for a version that has it", "[driver]") {
    void* function = untouched<void*>();
    auto status = cudaDriverEntryPointSuccess;
    REQUIRE_CUDA(cudaGetDriverEntryPointByVersion("cuGraphAddKernelNode", &function, 9000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointVersionNotSufficent);
    REQUIRE(function == nullptr);

    REQUIRE_CUDA(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &function, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSymbolNotFound);
    REQUIRE(function == nullptr);

    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetDriverEntryPointByVersion("cuGraphAddKernelNode", &function, 99000,
                                                                               cudaEnableDefault, &status));
}

TEST_CASE("the driver sets elements of one, two and four bytes in a stream", "[driver][memset]") {
    Stream stream;
    DeviceInts data(4);
    const auto address = [&](std::size_t i) { return reinterpret_cast<CUdeviceptr>(data.data() + i); };
    const auto set_1 = entry_point<PFN_cuMemsetD8Async_v3020>("cuMemsetD8Async", 12000);
    const auto set_2 = entry_point<PFN_cuMemsetD16Async_v3020>("cuMemsetD16Async", 12000);
    const auto set_4 = entry_point<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 12000);
    REQUIRE(set_1(address(0), 0x11, 4, stream) == CUDA_SUCCESS);
    REQUIRE(set_2(address(1), 0x2233, 2, stream) == CUDA_SUCCESS);
    REQUIRE(set_4(address(2), 0x44556677, 1, stream) == CUDA_SUCCESS);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{0x11111111, 0x22332233, 0x44556677, poison});

    int pageable = poison;
    REQUIRE(set_4(reinterpret_cast<CUdeviceptr>(&pageable), 0, 1, stream) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(set_4(address(2), 0, 1024, stream) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver names a function by its mangled name", "[driver]") {
    const auto name_of = entry_point<PFN_cuFuncGetName_v12030>("cuFuncGetName", 12030);
    const char* name = nullptr;
    REQUIRE(name_of(&name, function_of(symbol(store))) == CUDA_SUCCESS);
    REQUIRE(name == std::string("_Z5storePiii"));
}

TEST_CASE("the driver has a kernel's function in the current context", "[driver]") {
    const auto function_in = entry_point<PFN_cuKernelGetFunction_v12000>("cuKernelGetFunction", 12000);
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaGetKernel(&kernel, symbol(store)));
    CUfunction function = nullptr;
    REQUIRE(function_in(&function, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS);
    REQUIRE(function == function_of(symbol(store)));
}

TEST_CASE("the driver gives a kernel's parameters with offset and size", "[driver]") {
    const auto info = entry_point<PFN_cuFuncGetParamInfo_v12040>("cuFuncGetParamInfo", 12040);
    const CUfunction function = function_of(symbol(write_arguments));
    const std::vector<std::size_t> offsets{0, 8, 10, 12, 16, 24, 32, 40};
    const std::vector<std::size_t> sizes{8, 1, 2, 4, 8, 4, 8, 12};
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        std::size_t offset = 99;
        std::size_t size = 99;
        REQUIRE(info(function, i, &offset, &size) == CUDA_SUCCESS);
        REQUIRE(offset == offsets[i]);
        REQUIRE(size == sizes[i]);
    }
    std::size_t unused = 0;
    REQUIRE(info(function, offsets.size(), &unused, &unused) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a driver of CUDA 13.2 counts a kernel's parameters, and older ones cannot", "[driver]") {
    int version = 0;
    REQUIRE_CUDA(cudaDriverGetVersion(&version));
    void* found = nullptr;
    auto status = cudaDriverEntryPointSuccess;
    const auto asked = static_cast<unsigned>(std::min(version, 13020));
    REQUIRE_CUDA(cudaGetDriverEntryPointByVersion("cuFuncGetParamCount", &found, asked, cudaEnableDefault, &status));
    REQUIRE((found != nullptr) == (version >= 13020));
    if (found == nullptr) return;
    const auto count_of = reinterpret_cast<CUresult(CUDAAPI*)(CUfunction, std::size_t*)>(found);
    std::size_t count = 99;
    REQUIRE(count_of(function_of(symbol(write_arguments)), &count) == CUDA_SUCCESS);
    REQUIRE(count == 8);
    REQUIRE(count_of(function_of(symbol(write_arguments)), nullptr) == CUDA_ERROR_INVALID_VALUE);
}
