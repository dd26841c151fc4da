// A program of the driver alone, as users write it: it loads libcuda.so.1, whose path is its argument, and finds all
// functions there. It must not be linked to the CPU runtime.
#include <cuda.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#define CHECK(condition) check((condition), #condition, __LINE__)
#define CHECK_OK(call) check_code(CUDA_SUCCESS, (call), #call, __LINE__)
#define CHECK_CODE(code, call) check_code((code), (call), #call, __LINE__)
/// The function as its header declares it, under its symbol.
#define CALL(name) function<decltype(&name)>(CALL_TEXT(name))
#define CALL_TEXT(name) #name

namespace {

void* driver = nullptr;

void check(bool holds, const char* text, int line) {
    if (holds) return;
    std::fprintf(stderr, "driver_library.cpp:%d: CHECK failed: %s\n", line, text);
    std::exit(1);
}

template <class Function>
Function function(const char* symbol) {
    void* const address = dlsym(driver, symbol);
    if (address == nullptr) std::fprintf(stderr, "libcuda.so.1 has no %s\n", symbol);
    CHECK(address != nullptr);
    return reinterpret_cast<Function>(address);
}

void check_code(CUresult expected, CUresult code, const char* text, int line) {
    if (code == expected) return;
    const char* name = nullptr;
    CALL(cuGetErrorName)(code, &name);
    std::fprintf(stderr, "driver_library.cpp:%d: %s: %s\n", line, text, name == nullptr ? "unknown" : name);
    std::exit(1);
}

const char* const ptx = R"(
.version 8.0
.target sm_52
.address_size 64
.global .align 4 .u32 added;
.visible .entry add(.param .u64 p, .param .u32 value)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    add.s32 %r7, %r6, %r1;
    st.global.u32 [%rd4], %r7;
    st.global.u32 [added], %r1;
    ret;
}
)";

constexpr int count = 256;
constexpr std::size_t bytes = count * sizeof(int);

void CUDA_CB note(void* launches) {
    ++*static_cast<int*>(launches);
}

void check_before_initialisation() {
    int devices = -1;
    CHECK_CODE(CUDA_ERROR_NOT_INITIALIZED, CALL(cuDeviceGetCount)(&devices));
    int version = 0;
    CHECK_OK(CALL(cuDriverGetVersion)(&version));
    CHECK(version >= 12000);
    CHECK_CODE(CUDA_ERROR_INVALID_VALUE, CALL(cuInit)(1));
    CHECK_OK(CALL(cuInit)(0));
    CHECK_OK(CALL(cuDeviceGetCount)(&devices));
    CHECK(devices == 1);
    CUdeviceptr memory = 0;
    CHECK_CODE(CUDA_ERROR_INVALID_CONTEXT, CALL(cuMemAlloc)(&memory, 4)); // no context yet
}

/// dlsym and cuGetProcAddress give functions of the same effect for each version.
void check_entry_points() {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status{};
    const auto look_up = CALL(cuGetProcAddress);
    CHECK_OK(look_up("cuGetProcAddress", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(status == CU_GET_PROC_ADDRESS_SUCCESS);
    CHECK_OK(reinterpret_cast<decltype(&cuGetProcAddress)>(found)("cuMemAlloc", &found, 3020,
                                                                  CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CUdeviceptr memory = 0;
    CHECK_OK(reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(found)(&memory, 4));
    CHECK_OK(CALL(cuMemFree)(memory));
    CHECK_CODE(CUDA_ERROR_NOT_FOUND, look_up("cuNoFunction", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    CHECK(found == nullptr);
    CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    void* legacy = nullptr;
    void* per_thread = nullptr;
    CHECK_OK(look_up("cuMemcpyAsync", &legacy, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr));
    CHECK_OK(look_up("cuMemcpyAsync", &per_thread, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
    CHECK(legacy != per_thread);
    CHECK(dlsym(driver, "cuMemcpyAsync_ptsz") != nullptr);
    CHECK(dlsym(driver, "cuMemcpyHtoD_v2_ptds") != nullptr);
    CUgraphicsResource none = nullptr;
    CHECK_CODE(CUDA_ERROR_NOT_SUPPORTED, CALL(cuGraphicsUnregisterResource)(none)); // refused, but there
}

CUfunction check_module(CUmodule& module) {
    CHECK_OK(CALL(cuModuleLoadData)(&module, ptx));
    CUfunction add = nullptr;
    CHECK_OK(CALL(cuModuleGetFunction)(&add, module, "add"));
    CHECK_CODE(CUDA_ERROR_NOT_FOUND, CALL(cuModuleGetFunction)(&add, module, "subtract"));
    int threads = 0;
    CHECK_OK(CALL(cuFuncGetAttribute)(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
    CHECK(threads == 1024);
    return add;
}

} // namespace

int main(int, char** arguments) {
    driver = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    CHECK(driver != nullptr);
    check_before_initialisation();

    CUdevice device = -1;
    CHECK_OK(CALL(cuDeviceGet)(&device, 0));
    char name[64] = {};
    CHECK_OK(CALL(cuDeviceGetName)(name, sizeof name, device));
    CHECK(name == std::string("cudart-cpu"));
    int major = 0;
    CHECK_OK(CALL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(major == 9);
    CUcontext context = nullptr;
    CHECK_OK(CALL(cuDevicePrimaryCtxRetain)(&context, device));
    CHECK_OK(CALL(cuCtxSetCurrent)(context));
    check_entry_points();

    CHECK_OK(function<CUresult (*)()>("cuProfilerStart")()); // of cudaProfiler.h
    CHECK_OK(function<CUresult (*)()>("cuProfilerStop")());

    // Memory, copies and a kernel of a module, in a stream.
    CUstream stream = nullptr;
    CHECK_OK(CALL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr memory = 0;
    CHECK_OK(CALL(cuMemAlloc)(&memory, bytes));
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 0);
    CHECK_OK(CALL(cuMemcpyHtoDAsync)(memory, values.data(), bytes, stream));
    CUmodule module = nullptr;
    const CUfunction add = check_module(module);
    int seven = 7;
    void* parameters[] = {&memory, &seven};
    CHECK_OK(CALL(cuLaunchKernel)(add, count / 64, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr));
    std::vector<int> result(count, -1);
    CHECK_OK(CALL(cuMemcpyDtoHAsync)(result.data(), memory, bytes, stream));
    CHECK_OK(CALL(cuStreamSynchronize)(stream));
    for (int i = 0; i < count; ++i)
        CHECK(result[static_cast<std::size_t>(i)] == i + 7);
    CUdeviceptr added = 0;
    std::size_t added_bytes = 0;
    CHECK_OK(CALL(cuModuleGetGlobal)(&added, &added_bytes, module, "added"));
    CHECK(added_bytes == sizeof(int));
    int last = 0;
    CHECK_OK(CALL(cuMemcpyDtoH)(&last, added, sizeof last));
    CHECK(last == 7);

    // A graph: a fill, then the kernel, then a host function; launched twice, between two events.
    CUgraph graph = nullptr;
    CHECK_OK(CALL(cuGraphCreate)(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = memory;
    fill.value = 1;
    fill.elementSize = sizeof(int);
    fill.width = count;
    fill.height = 1;
    CUgraphNode filled = nullptr;
    CHECK_OK(CALL(cuGraphAddMemsetNode)(&filled, graph, nullptr, 0, &fill, context));
    CUDA_KERNEL_NODE_PARAMS kernel{};
    kernel.func = add;
    kernel.gridDimX = count / 64;
    kernel.blockDimX = 64;
    kernel.gridDimY = kernel.gridDimZ = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = parameters;
    CUgraphNode added_to = nullptr;
    CHECK_OK(CALL(cuGraphAddKernelNode)(&added_to, graph, &filled, 1, &kernel));
    int launches = 0;
    const CUDA_HOST_NODE_PARAMS host{note, &launches};
    CUgraphNode noted = nullptr;
    CHECK_OK(CALL(cuGraphAddHostNode)(&noted, graph, &added_to, 1, &host));
    CUgraphExec exec = nullptr;
    CHECK_OK(CALL(cuGraphInstantiate)(&exec, graph, 0));
    CUevent begin = nullptr;
    CUevent end = nullptr;
    CHECK_OK(CALL(cuEventCreate)(&begin, CU_EVENT_DEFAULT));
    CHECK_OK(CALL(cuEventCreate)(&end, CU_EVENT_DEFAULT));
    CHECK_OK(CALL(cuEventRecord)(begin, stream));
    CHECK_OK(CALL(cuGraphLaunch)(exec, stream));
    CHECK_OK(CALL(cuGraphLaunch)(exec, stream));
    CHECK_OK(CALL(cuEventRecord)(end, stream));
    CHECK_OK(CALL(cuEventSynchronize)(end));
    float ms = -1;
    CHECK_OK(CALL(cuEventElapsedTime)(&ms, begin, end));
    CHECK(ms >= 0);
    CHECK(launches == 2);
    CHECK_OK(CALL(cuMemcpyDtoH)(result.data(), memory, bytes));
    for (const int value : result)
        CHECK(value == 8);

    CHECK_OK(CALL(cuGraphExecDestroy)(exec));
    CHECK_OK(CALL(cuGraphDestroy)(graph));
    CHECK_OK(CALL(cuEventDestroy)(begin));
    CHECK_OK(CALL(cuEventDestroy)(end));
    CHECK_OK(CALL(cuModuleUnload)(module));
    CHECK_OK(CALL(cuStreamDestroy)(stream));
    CHECK_OK(CALL(cuMemFree)(memory));
    CHECK_CODE(CUDA_ERROR_INVALID_VALUE, CALL(cuMemFree)(memory));
    CHECK_OK(CALL(cuDevicePrimaryCtxRelease)(device));
    std::puts("done");
}
