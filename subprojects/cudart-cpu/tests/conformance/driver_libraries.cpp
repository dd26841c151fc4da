// Modules and libraries of the driver: PTX loaded, functions and variables found, launched and put into graphs.
#include "driver.hpp"

#include <string>

namespace {

const char* const text = R"(
.version 8.0
.target sm_52
.address_size 64
.visible .global .align 4 .u32 driver_total;
.visible .entry driver_count(.param .u64 p, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ld.global.u32 %r2, [driver_total];
    add.u32 %r3, %r2, %r1;
    st.global.u32 [driver_total], %r3;
    ret;
}
)";

class Module {
  public:
    Module() {
        REQUIRE_CUDA(cudaFree(nullptr));
        REQUIRE(entry_point<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000)(&module_, text) == CUDA_SUCCESS);
    }
    ~Module() { CHECK(entry_point<PFN_cuModuleUnload_v2000>("cuModuleUnload", 12000)(module_) == CUDA_SUCCESS); }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    operator CUmodule() const { return module_; }
    CUfunction function() const {
        CUfunction found = nullptr;
        REQUIRE(entry_point<PFN_cuModuleGetFunction_v2000>("cuModuleGetFunction",
                                                           12000)(&found, module_, "driver_count") == CUDA_SUCCESS);
        return found;
    }

  private:
    CUmodule module_ = nullptr;
};

} // namespace

TEST_CASE("a module's function is launched, and its variable read", "[driver][libraries]") {
    const Module module;
    const Stream stream;
    DeviceInts data(1);
    int* memory = data.data();
    int value = 3;
    void* arguments[] = {&memory, &value};
    const auto launch = entry_point<PFN_cuLaunchKernel_v4000>("cuLaunchKernel", 12000);
    REQUIRE(launch(module.function(), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS);
    REQUIRE(launch(module.function(), 0, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(launch(module.function(), 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr) == CUDA_ERROR_INVALID_VALUE);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{3});

    const auto variable = entry_point<PFN_cuModuleGetGlobal_v3020>("cuModuleGetGlobal", 12000);
    CUdeviceptr total = 0;
    std::size_t bytes = 0;
    REQUIRE(variable(&total, &bytes, module, "driver_total") == CUDA_SUCCESS);
    REQUIRE(bytes == 4);
    int read = 0;
    REQUIRE_CUDA(cudaMemcpy(&read, reinterpret_cast<void*>(total), 4, cudaMemcpyDeviceToHost));
    REQUIRE(read == 3);
    REQUIRE(variable(&total, &bytes, module, "no_variable") == CUDA_ERROR_NOT_FOUND);
    CUfunction none = nullptr;
    REQUIRE(entry_point<PFN_cuModuleGetFunction_v2000>("cuModuleGetFunction", 12000)(&none, module, "no_kernel") ==
            CUDA_ERROR_NOT_FOUND);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("two modules of one image have variables of their own", "[driver][libraries]") {
    const Module first;
    const Module second;
    const auto variable = entry_point<PFN_cuModuleGetGlobal_v3020>("cuModuleGetGlobal", 12000);
    CUdeviceptr of_first = 0;
    CUdeviceptr of_second = 0;
    REQUIRE(variable(&of_first, nullptr, first, "driver_total") == CUDA_SUCCESS);
    REQUIRE(variable(&of_second, nullptr, second, "driver_total") == CUDA_SUCCESS);
    REQUIRE(of_first != of_second);
}

TEST_CASE("a library's kernel is a function of the context, and the driver tells its attributes",
          "[driver][libraries]") {
    const auto load = entry_point<PFN_cuLibraryLoadData_v12000>("cuLibraryLoadData", 12000);
    const auto unload = entry_point<PFN_cuLibraryUnload_v12000>("cuLibraryUnload", 12000);
    const auto kernel_of = entry_point<PFN_cuLibraryGetKernel_v12000>("cuLibraryGetKernel", 12000);
    const auto function_in = entry_point<PFN_cuKernelGetFunction_v12000>("cuKernelGetFunction", 12000);
    const auto attribute = entry_point<PFN_cuKernelGetAttribute_v12000>("cuKernelGetAttribute", 12000);
    const auto name_of = entry_point<PFN_cuKernelGetName_v12030>("cuKernelGetName", 12030);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUlibrary library = nullptr;
    REQUIRE(load(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_SUCCESS);
    CUkernel kernel = nullptr;
    REQUIRE(kernel_of(&kernel, library, "driver_count") == CUDA_SUCCESS);
    CUfunction function = nullptr;
    REQUIRE(function_in(&function, kernel) == CUDA_SUCCESS);
    REQUIRE(function != nullptr);
    int threads = 0;
    REQUIRE(attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0) == CUDA_SUCCESS);
    REQUIRE(threads == 1024);
    REQUIRE(attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 99) == CUDA_ERROR_INVALID_DEVICE);
    const char* name = nullptr;
    REQUIRE(name_of(&name, kernel) == CUDA_SUCCESS);
    REQUIRE(name == std::string("driver_count"));
    REQUIRE(kernel_of(&kernel, library, "no_kernel") == CUDA_ERROR_NOT_FOUND);
    REQUIRE(load(nullptr, text, nullptr, nullptr, 0, nullptr, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(unload(library) == CUDA_SUCCESS);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
