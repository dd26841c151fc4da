// Kernels from PTX text: libraries loaded, their kernels found, launched and put into graphs.
#include "nodes.hpp"

#ifdef CUDART_CPU
#include <cudart_cpu/kernel.hpp>
#endif

#include <string>

#ifdef CUDART_CPU
// What the text below says, for a runtime that has no compiler for it.
extern "C" void library_store(int* p, int value) {
    *p = value;
}
#endif

namespace {

const char* const text = R"(
.version 8.0
.target sm_52
.address_size 64
.visible .entry library_store(.param .u64 p, .param .u32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
)";

cudaError_t load(cudaLibrary_t* library, const char* code) {
    return cudaLibraryLoadData(library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

class Library {
  public:
    Library() {
#ifdef CUDART_CPU
        cudart_cpu::register_library_kernel("library_store", library_store);
#endif
        REQUIRE_CUDA(load(&library_, text));
    }
    ~Library() { CHECK(cudaLibraryUnload(library_) == cudaSuccess); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    operator cudaLibrary_t() const { return library_; }
    cudaKernel_t kernel() const {
        cudaKernel_t kernel = nullptr;
        REQUIRE_CUDA(cudaLibraryGetKernel(&kernel, library_, "library_store"));
        return kernel;
    }

  private:
    cudaLibrary_t library_ = nullptr;
};

/// The arguments of library_store.
struct Store {
    Store(int* destination, int stored) : p(destination), value(stored) {}
    Store(const Store&) = delete;

    int* p;
    int value;
    void* arguments[2] = {&p, &value};
};

} // namespace

TEST_CASE("a kernel of a library is launched", "[library]") {
    const Library library;
    DeviceInts data(1);
    Store store(data.data(), 7);
    REQUIRE_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(library.kernel()), 1, 1, store.arguments, 0, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector{7});
}

TEST_CASE("a kernel of a library that does nothing is launched, and put into a graph", "[library]") {
    constexpr const char* nothing = R"(.version 8.0
.target sm_52
.address_size 64
.visible .entry library_nothing()
{
    ret;
}
)";
    cudaLibrary_t library = nullptr;
    REQUIRE_CUDA(load(&library, nothing));
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaLibraryGetKernel(&kernel, library, "library_nothing"));
    REQUIRE_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(kernel), 3, 32, nullptr, 0, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = params.blockDim = 1;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    REQUIRE_CUDA(cudaGraphLaunch(exec, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    REQUIRE_CUDA(cudaLibraryUnload(library));
}

TEST_CASE("a kernel of a library is put into a graph as a cudaKernel_t", "[library]") {
    const Library library;
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    Store store(data.data(), 8);
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(library.kernel());
    params.gridDim = 1;
    params.blockDim = 1;
    params.kernelParams = store.arguments;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(data.read() == std::vector{8});
}

TEST_CASE("a library gives the same handle for a kernel each time, and its name", "[library]") {
    const Library library;
    REQUIRE(library.kernel() == library.kernel());
    const char* name = nullptr;
    REQUIRE_CUDA(cudaFuncGetName(&name, reinterpret_cast<void*>(library.kernel())));
    REQUIRE(name == std::string("library_store"));
    unsigned count = 0;
    REQUIRE_CUDA(cudaLibraryGetKernelCount(&count, library));
    REQUIRE(count == 1);
    cudaKernel_t kernel = nullptr;
    REQUIRE_CUDA(cudaLibraryEnumerateKernels(&kernel, 1, library));
    REQUIRE(kernel == library.kernel());
}

TEST_CASE("a kernel of a library is no symbol", "[library]") {
    const Library library;
    cudaFunction_t function = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction,
                       cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(library.kernel())));
}

TEST_CASE("a kernel that the library does not have is not found", "[library]") {
    const Library library;
    auto kernel = untouched<cudaKernel_t>();
    REQUIRE_CUDA_ERROR(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "absent"));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLibraryGetKernel(&kernel, library, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLibraryGetKernel(nullptr, library, "library_store"));
    REQUIRE(kernel == untouched<cudaKernel_t>());
}

TEST_CASE("what is no kernel image is noticed when a kernel is looked for", "[library]") {
    cudaLibrary_t library = nullptr;
    REQUIRE_CUDA(load(&library, "garbage"));
    auto kernel = untouched<cudaKernel_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidKernelImage, cudaLibraryGetKernel(&kernel, library, "library_store"));
    REQUIRE(kernel == untouched<cudaKernel_t>());
    unsigned count = 99;
    REQUIRE_CUDA(cudaLibraryGetKernelCount(&count, library));
    REQUIRE(count == 0);
    REQUIRE_CUDA(cudaLibraryUnload(library));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, load(&library, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, load(nullptr, text));
}

TEST_CASE("a library without kernels has none, and is looked through with a list alone", "[library]") {
    cudaLibrary_t library = nullptr;
    REQUIRE_CUDA(load(&library, ".version 8.0\n.target sm_80\n.address_size 64\n"));
    unsigned count = 99;
    REQUIRE_CUDA(cudaLibraryGetKernelCount(&count, library));
    REQUIRE(count == 0);
    auto kernel = untouched<cudaKernel_t>();
    REQUIRE_CUDA(cudaLibraryEnumerateKernels(&kernel, 1, library));
    REQUIRE(kernel == untouched<cudaKernel_t>());
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLibraryEnumerateKernels(nullptr, 0, library));
    REQUIRE_CUDA_ERROR(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "library_store"));
    REQUIRE_CUDA(cudaLibraryUnload(library));
}

TEST_CASE("the runtime does not read nodes with kernels of libraries", "[library]") {
    const Library library;
    Graph graph;
    Store store(nullptr, 8);
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(library.kernel());
    params.gridDim = 1;
    params.blockDim = 1;
    params.kernelParams = store.arguments;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDeviceFunction, cudaGraphKernelNodeGetParams(node, &params));
}

TEST_CASE("a file that is not there is no library", "[library]") {
    auto library = untouched<cudaLibrary_t>();
    REQUIRE_CUDA_ERROR(cudaErrorFileNotFound,
                       cudaLibraryLoadFromFile(&library, "/nonexistent.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
}
