// A kernel that nvcc compiled for NVIDIA's runtime, given to cudag over the CPU runtime: refused by name, with the way
// out.
#include <string>

#include <catch.hpp>
#include <cudag/cudag.hpp>

extern "C" {
void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFunction(void** handle, const char* function, char* device_function, const char* name, int limit,
                            uint3* thread, uint3* block, dim3* block_size, dim3* grid_size, int* warp_size);
}

namespace {

int runs = 0;

/// What nvcc's host code has in a kernel's place; nothing tells it from a function that is run on the CPU.
void of_nvcc(int*, int) {
    ++runs;
}

/// As nvcc's object files do before main().
void register_it() {
    static void* binary[3] = {}; // no fat binary: there is nothing to translate
    static void** const handle = __cudaRegisterFatBinary(binary);
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&of_nvcc), nullptr, "_Z7of_nvccPii", -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
}

template <class Call>
void check_refused(const Call& call) {
    std::string text;
    std::error_code code;
    try {
        call();
    } catch (const cudag::Error& error) {
        text = error.what();
        code = error.code();
    }
    CHECK(code == std::error_code(static_cast<int>(cudaErrorInvalidDeviceFunction), cudag::cuda_category()));
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring("of_nvcc"));
    if (CUDART_VERSION >= 13000)
        CHECK_THAT(text, Catch::Matchers::ContainsSubstring("was compiled by nvcc for NVIDIA's runtime") &&
                             Catch::Matchers::ContainsSubstring("cudag_kernels"));
}

} // namespace

TEST_CASE("a kernel that nvcc compiled is refused by name in graphs, streams and captures", "[unit][nvcc]") {
    register_it();
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    check_refused([&] {
        cudag::GraphBuilder b;
        b.kernel({}, of_nvcc, cell.data(), 1);
    });
    check_refused([&] { cudag::launch(stream, {}, of_nvcc, cell.data(), 1); });
    check_refused([&] {
        static_cast<void>(
            cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, of_nvcc, cell.data(), 1); }));
    });
    check_refused([&] {
        static_cast<void>(cudag::capture(stream, [&](cudaStream_t s) {
            int* pointer = cell.data();
            int number = 1;
            void* args[] = {&pointer, &number};
            cudag::check(cudaLaunchKernel(reinterpret_cast<const void*>(&of_nvcc), 1, 1, args, 0, s));
        }));
    });
    stream.synchronize();
    CHECK(runs == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}
