// Shared objects that are loaded as libraries of kernels: from a file and from memory, each with its own variables.
#include "check.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

cudaError_t load_file(cudaLibrary_t* library, const std::string& path) {
    return cudaLibraryLoadFromFile(library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
}

cudaError_t load_data(cudaLibrary_t* library, const std::string& code) {
    return cudaLibraryLoadData(library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    CHECK(file.good());
    return std::string(std::istreambuf_iterator<char>(file), {});
}

void* kernel(cudaLibrary_t library, const char* name) {
    cudaKernel_t kernel = nullptr;
    CHECK_OK(cudaLibraryGetKernel(&kernel, library, name));
    const char* found = nullptr;
    CHECK_OK(cudaFuncGetName(&found, reinterpret_cast<const void*>(kernel)));
    CHECK(std::strcmp(found, name) == 0);
    return reinterpret_cast<void*>(kernel);
}

void check_kernels(cudaLibrary_t library) {
    unsigned count = 0;
    CHECK_OK(cudaLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    cudaKernel_t both[2] = {};
    CHECK_OK(cudaLibraryEnumerateKernels(both, 2, library));
    CHECK(both[0] == kernel(library, "_Z5countPi"));
    CHECK(both[1] == kernel(library, "scale"));
    std::size_t offset = 0;
    std::size_t size = 0;
    CHECK_OK(cudaFuncGetParamInfo(reinterpret_cast<const void*>(both[1]), 1, &offset, &size));
    CHECK(offset == 8 && size == 8);
}

void check_scale(cudaLibrary_t library, float* x) {
    x[0] = 2;
    x[1] = 3;
    float factor = 10;
    void* arguments[] = {&factor, &x};
    CHECK_OK(cudaLaunchKernel(kernel(library, "scale"), 1, 2, arguments, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(x[0] == 20 && x[1] == 30);
}

int count_calls(cudaLibrary_t library, int* cell) {
    void* arguments[] = {&cell};
    CHECK_OK(cudaLaunchKernel(kernel(library, "_Z5countPi"), 1, 1, arguments, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    return *cell;
}

} // namespace

int main(int count, char** argv) {
    CHECK(count == 2);
    const std::string path = argv[1];
    const std::string image = read(path);
    float* x = nullptr;
    int* cell = nullptr;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&x), 2 * sizeof(float)));
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&cell), sizeof(int)));

    // Loaded and unloaded in turn: what is loaded where another was, or under its name, is not taken for it.
    for (int i = 0; i < 3; ++i) {
        cudaLibrary_t from_file = nullptr;
        cudaLibrary_t from_data = nullptr;
        CHECK_OK(load_file(&from_file, path));
        CHECK_OK(load_data(&from_data, image));
        check_kernels(from_file);
        check_kernels(from_data);
        check_scale(from_file, x);
        check_scale(from_data, x);
        CHECK(kernel(from_file, "scale") != kernel(from_data, "scale"));
        CHECK(count_calls(from_file, cell) == 1);
        CHECK(count_calls(from_file, cell) == 2);
        CHECK(count_calls(from_data, cell) == 1);
        void* const gone = kernel(from_file, "scale");
        CHECK_OK(cudaLibraryUnload(from_file));
        void* arguments[] = {&x, &x};
        CHECK_CODE(cudaErrorInvalidResourceHandle, cudaLaunchKernel(gone, 1, 1, arguments, 0, nullptr));
        static_cast<void>(cudaGetLastError());
        CHECK(count_calls(from_data, cell) == 2);
        CHECK_OK(cudaLibraryUnload(from_data));
    }

    // Neither PTX text nor a shared object has kernels that it does not name.
    cudaLibrary_t object = nullptr;
    cudaLibrary_t text = nullptr;
    cudaKernel_t unknown = nullptr;
    CHECK_OK(load_file(&object, path));
    CHECK_OK(load_data(&text, ".version 8.0\n.target sm_52\n.visible .entry scale(.param .f32 f) { exit; }\n"));
    CHECK_CODE(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&unknown, text, "shift"));
    CHECK_CODE(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&unknown, object, "shift"));
    CHECK_OK(cudaLibraryUnload(text));
    CHECK_OK(cudaLibraryUnload(object));

    // What cannot be loaded is refused.
    CHECK_CODE(cudaErrorInvalidKernelImage, load_file(&object, "/proc/self/exe"));
    const std::string cut_path = path + ".cut";
    for (const std::size_t size : {std::size_t{64}, image.size() / 2, image.size() - 1}) {
        std::ofstream(cut_path, std::ios::binary) << image.substr(0, size);
        CHECK_CODE(cudaErrorInvalidKernelImage, load_file(&object, cut_path));
    }
    std::ofstream(cut_path, std::ios::binary) << image.substr(0, 20);
    CHECK_OK(load_file(&object, cut_path)); // as CUDA does with what is no code at all
    CHECK_CODE(cudaErrorInvalidKernelImage, cudaLibraryGetKernel(&unknown, object, "scale"));
    CHECK_OK(cudaLibraryUnload(object));
    CHECK(std::remove(cut_path.c_str()) == 0);
    static_cast<void>(cudaGetLastError());

    CHECK_OK(cudaFree(x));
    CHECK_OK(cudaFree(cell));
}
