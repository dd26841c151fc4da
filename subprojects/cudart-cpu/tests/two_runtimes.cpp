// A second CUDA runtime in the process: the first call names both and fails.
#include "check.hpp"

#include <cstring>
#include <string>

#ifdef STATIC_RUNTIME
/// As nvcc's objects have it; a program whose runtime is linked statically takes no __cudaRegisterFatBinary from a
/// library.
__attribute__((section(".nv_fatbin"), used)) const char fat_binary[] = "binary";
#endif

#ifdef STATIC_FUNCTIONS
/// As libcudart_static.a has it, which only a program's own objects see.
extern "C" __attribute__((visibility("hidden"), used)) void** __cudaRegisterFatBinary(void*) {
    return nullptr;
}
#endif

#ifdef SHARED_RUNTIME
extern "C" int second_runtime();
#endif

int main(int, char** argv) {
#ifdef SHARED_RUNTIME
    CHECK(second_runtime() == 1);
    const char* const other = "libcudart.so";
    static_cast<void>(argv);
#else
    const char* const name = std::strrchr(argv[0], '/');
    const char* const other = name == nullptr ? argv[0] : name + 1;
#endif
    cudaStream_t stream = nullptr;
    for (int i = 0; i < 2; ++i) {
        CHECK_CODE(cudaErrorInitializationError, cudaStreamCreate(&stream));
        CHECK_CODE(cudaErrorInitializationError, cudaGetLastError());
    }
#if CUDART_VERSION >= 13000
    char text[8192];
    std::size_t size = sizeof text;
    static_cast<void>(cudaLogsDumpToMemory(nullptr, text, &size, 0));
    const std::string log(text, size);
    CHECK(log.find("two CUDA runtimes in one process") != std::string::npos);
    CHECK(log.find(other) != std::string::npos);
    CHECK(log.find("libcudart-cpu.so") != std::string::npos);
#else
    static_cast<void>(other);
#endif
}
