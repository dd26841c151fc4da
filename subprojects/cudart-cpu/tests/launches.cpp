// Kernels: registration, names, arguments, indices, atomics, device functions.
#include "check.hpp"
#include "gate.hpp"
#include "kernels.cuh"

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace {

template <class T>
T* managed(std::size_t n) {
    void* pointer = nullptr;
    CHECK_OK(cudaMallocManaged(&pointer, n * sizeof(T), cudaMemAttachGlobal));
    std::memset(pointer, 0, n * sizeof(T));
    return static_cast<T*>(pointer);
}

template <class Kernel>
const void* symbol(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

void no_kernel(int*) {}

void a_function_that_is_no_kernel_is_refused() {
    int* pointer = nullptr;
    void* args[] = {&pointer};
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaLaunchKernel(symbol(no_kernel), 1, 1, args, 0, nullptr));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaGetLastError());
}

void a_kernel_is_known_before_it_is_registered() {
    CHECK_OK(cudaLaunchKernel(symbol(nothing), 1, 1, nullptr, 0, nullptr));
    cudart_cpu::register_kernel(nothing);
    cudart_cpu::register_kernel(nothing);
    CHECK_OK(cudaLaunchKernel(symbol(nothing), 1, 1, nullptr, 0, nullptr));
}

void arguments_are_copied_at_the_call() {
    cudart_cpu::register_kernel(apply);
    int* out = managed<int>(8);
    Affine map{2.0, 3};
    unsigned char scale = 10;
    int n = 7;
    void* args[] = {&out, &map, &scale, &n};
    Gate gate;
    gate.close(nullptr);
    CHECK_OK(cudaLaunchKernel(symbol(apply), 2, 4, args, 0, nullptr));
    map.factor = 100;
    scale = 0;
    n = 0;
    gate.open();
    CHECK_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 7; ++i) {
        CHECK(out[i] == i * 20 + 3);
    }
    CHECK(out[7] == 0);
    CHECK_OK(cudaFree(out));
}

void every_thread_of_every_block_runs_once() {
    cudart_cpu::register_kernel(indices);
    const dim3 grid(2, 3, 2);
    const dim3 block(4, 2, 3);
    constexpr std::size_t threads = 12 * 24;
    auto* out = managed<unsigned>(threads);
    void* args[] = {&out};
    CHECK_OK(cudaLaunchKernel(symbol(indices), grid, block, args, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < threads; ++i) {
        CHECK(out[i] == 1);
    }
    CHECK_OK(cudaFree(out));
}

void atomics_of_concurrent_streams_add_up() {
    cudart_cpu::register_kernel(sums);
    struct Totals {
        unsigned long long l;
        double d;
        int i;
        unsigned u;
        float f;
        int largest;
    };
    auto* totals = managed<Totals>(1);
    void* pointers[] = {&totals->i, &totals->u, &totals->l, &totals->f, &totals->d, &totals->largest};
    void* args[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &pointers[4], &pointers[5]};
    std::vector<cudaStream_t> streams(3);
    for (cudaStream_t& stream : streams) {
        CHECK_OK(cudaStreamCreate(&stream));
        CHECK_OK(cudaLaunchKernel(symbol(sums), 10, 100, args, 0, stream));
    }
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(totals->i == 3000 && totals->u == 3000 && totals->l == 3000 && totals->f == 3000.0f && totals->d == 3000.0);
    CHECK(totals->largest == 99);
    for (cudaStream_t stream : streams) {
        CHECK_OK(cudaStreamDestroy(stream));
    }
    CHECK_OK(cudaFree(totals));
}

void device_functions_give_cudas_values() {
    cudart_cpu::register_kernel(math);
    auto* out = managed<float>(4);
    out[3] = 7.0f;
    float* in = out + 3;
    void* args[] = {&out, &in};
    CHECK_OK(cudaLaunchKernel(symbol(math), 1, 1, args, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(out[0] == 7.0f + 0.5f + 2.0f + 3.0f);
    CHECK(out[1] == 8 + 31 + 4 + 2 + 32);
    CHECK_OK(cudaFree(out));
}

/// What a launch, and a node if it can be given the attribute, answer with a driver of this version.
void check_attribute(int driver, unsigned id, cudaError_t code) {
    cudart_cpu::set_driver_version(driver);
    cudaLaunchAttribute attribute{};
    attribute.id = static_cast<cudaLaunchAttributeID>(id); // a number, because older headers do not name all
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK_CODE(code, cudaLaunchKernelExC(&config, symbol(nothing), nullptr));
    cudaKernelNodeParams params{};
    params.func = const_cast<void*>(symbol(nothing));
    params.gridDim = 1;
    params.blockDim = 1;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    constexpr unsigned preferred_cluster = 11; // which nodes cannot be given
    CHECK_CODE(id == preferred_cluster ? cudaErrorInvalidValue : code,
               cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val));
    CHECK_OK(cudaGraphDestroy(graph));
    cudart_cpu::set_driver_version(0);
}

void attributes_that_came_later_are_refused() {
    struct Since {
        unsigned id;
        int before;
        int since;
    };
    for (const Since& attribute : {Since{14, 12040, 12050}, Since{11, 12060, 12080}, Since{16, 12090, 13000},
                                   Since{17, 13010, 13020}, Since{18, 13010, 13020}}) {
        check_attribute(attribute.before, attribute.id, cudaErrorInvalidValue);
        check_attribute(attribute.since, attribute.id, cudaSuccess);
    }
    CHECK_CODE(cudaErrorInvalidValue, cudaGetLastError());
    CHECK_OK(cudaDeviceSynchronize());
}

void a_launch_records_its_event() {
    cudaEvent_t event = nullptr;
    CHECK_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaLaunchKernelExC(&config, symbol(nothing), nullptr));
    attribute.val.programmaticEvent.event = event;
    Gate gate;
    gate.close(nullptr);
    CHECK_OK(cudaLaunchKernelExC(&config, symbol(nothing), nullptr));
    CHECK_CODE(cudaErrorNotReady, cudaEventQuery(event));
    gate.open();
    CHECK_OK(cudaEventSynchronize(event));
    CHECK_OK(cudaEventDestroy(event));
}

void names_and_handles_are_found() {
    const char* name = nullptr;
    CHECK_OK(cudaFuncGetName(&name, symbol(apply)));
    CHECK(std::string(name) == "_Z5applyPi6Affinehi");
    cudaFunction_t function = nullptr;
    CHECK_OK(cudaGetFuncBySymbol(&function, symbol(nothing)));
    CHECK_OK(cudaLaunchKernel(reinterpret_cast<const void*>(function), 1, 1, nullptr, 0, nullptr));
    std::size_t offset = 0;
    std::size_t size = 0;
    CHECK_OK(cudaFuncGetParamInfo(symbol(apply), 3, &offset, &size));
    CHECK(offset == 28 && size == 4);
    CHECK_CODE(cudaErrorInvalidValue, cudaFuncGetParamInfo(symbol(apply), 4, &offset, &size));
}

} // namespace

int main() {
    a_function_that_is_no_kernel_is_refused();
    a_kernel_is_known_before_it_is_registered();
    arguments_are_copied_at_the_call();
    every_thread_of_every_block_runs_once();
    atomics_of_concurrent_streams_add_up();
    device_functions_give_cudas_values();
    attributes_that_came_later_are_refused();
    a_launch_records_its_event();
    names_and_handles_are_found();
}
