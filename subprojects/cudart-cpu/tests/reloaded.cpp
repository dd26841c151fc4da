// Plugins that are loaded where others were: each kernel runs as its own, and has its own name.
#include "check.hpp"

#include <dlfcn.h>

#include <cstring>

int main(int count, char** argv) {
    CHECK(count == 3);
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    int* cell = nullptr;
    CHECK_OK(cudaMalloc(reinterpret_cast<void**>(&cell), sizeof(int)));
    const void* last = nullptr;
    cudaFunction_t last_function = nullptr;
    bool same_place = false;
    for (int i = 0; i < 20; ++i) {
        void* const plugin = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
        CHECK(plugin != nullptr);
        const auto address = reinterpret_cast<const void* (*)()>(dlsym(plugin, "plugin_address"));
        const auto launch = reinterpret_cast<cudaError_t (*)(int*, int, cudaStream_t)>(dlsym(plugin, "plugin_launch"));
        CHECK(address != nullptr && launch != nullptr);
        same_place = same_place || address() == last;
        last = address();
        if (last_function != nullptr) { // of a kernel that is gone
            CHECK_CODE(cudaErrorInvalidResourceHandle,
                       cudaLaunchKernel(reinterpret_cast<const void*>(last_function), 1, 1, nullptr, 0, stream));
            static_cast<void>(cudaGetLastError());
        }
        CHECK_OK(launch(cell, i, stream));
        CHECK_OK(cudaStreamSynchronize(stream));
        int value = -1;
        CHECK_OK(cudaMemcpy(&value, cell, sizeof value, cudaMemcpyDefault));
        CHECK(value == i);
        const char* name = nullptr;
        CHECK_OK(cudaFuncGetName(&name, address()));
        CHECK(std::strcmp(name, i % 2 == 0 ? "_Z13plugin_kernelPii" : "_Z13plugin_kernel4ManyPi") == 0);
        CHECK_OK(cudaGetFuncBySymbol(&last_function, address()));
        CHECK(dlclose(plugin) == 0);
        CHECK(dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_NOLOAD) == nullptr);
    }
    CHECK_OK(cudaFree(cell));
    CHECK_OK(cudaStreamDestroy(stream));
    if (!same_place) {
        std::fprintf(stderr, "no plugin came to where another one was: nothing is tested\n");
        return 77;
    }
}
