// Kernels that are C++ have the host's half that nvcc makes: other files launch them by address and by configuration.
#include "stubs.hpp"
#include "check.hpp"

#include <cudart_cpu/kernel.hpp>

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream);

namespace {

int* to = nullptr;

/// What the kernel at `symbol` writes.
template <class... Arguments>
int launched(const void* symbol, Arguments... arguments) {
    void* pointers[] = {&arguments..., nullptr};
    to[0] = -1;
    CHECK_OK(cudaLaunchKernel(symbol, 1, 1, pointers, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    return to[0];
}

int configured() {
    CHECK_OK(cudaGetLastError());
    CHECK_OK(cudaDeviceSynchronize());
    return to[0];
}

void configure() {
    to[0] = -1;
    CHECK(__cudaPushCallConfiguration(1, 1, 0, nullptr) == 0);
}

void times_ten(int* value) {
    *value *= 10;
}

template <class Kernel>
const void* address(Kernel* kernel) {
    return reinterpret_cast<const void*>(kernel);
}

void kernels_are_known_by_their_definitions() {
    const Three three{{11, 12, 13}};
    CHECK(launched(address(static_cast<void (*)(int*)>(forms::overloaded)), to) == 6);
    CHECK(launched(address(static_cast<void (*)(int*, Three, int)>(forms::overloaded)), to, three, 2) == 13);
    CHECK(launched(address(forms::unnamed), to, 1u, three, three, to, three, float4{}, short{-9}) == -9);
    int from = 3;
    int many[4] = {0, 4, 0, 0};
    CHECK(launched(address(qualified), static_cast<const int*>(&from), to, many, &times_ten) == 70);
    CHECK(launched(address(bounded), to, 8) == 8);
    CHECK(launched(address(made_by_macro), to, 9) == 9);
    CHECK(launched(internal_kernel(), to) == '_');
    cudaFuncAttributes attributes{};
    CHECK_OK(cudaFuncGetAttributes(&attributes, address(bounded)));
}

void kernels_are_launched_by_calls_with_a_configuration() {
    const Three three{{11, 12, 13}};
    configure();
    forms::overloaded(to);
    CHECK(configured() == 6);
    configure();
    forms::overloaded(to, three, 1);
    CHECK(configured() == 12);
    configure();
    forms::unnamed(to, 1, three, three, to, three, float4{}, -9);
    CHECK(configured() == -9);
    int from = 3;
    int many[4] = {0, 4, 0, 0};
    configure();
    qualified(&from, to, many, &times_ten);
    CHECK(configured() == 70);
    CHECK(__cudaPushCallConfiguration(1, 2, 0, nullptr) == 0);
    to[2] = -1;
    bounded(to, 4);
    CHECK(configured() == 4);
    CHECK(to[1] == 4 && to[2] == -1);
}

void a_call_without_a_configuration_runs_nothing() {
    to[0] = -1;
    made_by_macro(to, 1);
    CHECK_CODE(cudaErrorMissingConfiguration, cudaGetLastError());
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(to[0] == -1);
}

void an_instance_of_a_template_must_be_registered() {
    const void* const symbol = instance_of_template();
    const auto kernel = reinterpret_cast<void (*)(int*)>(const_cast<void*>(symbol));
    void* pointers[] = {&to};
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaLaunchKernel(symbol, 1, 1, pointers, 0, nullptr));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaGetLastError());
    configure();
    kernel(to);
    CHECK_CODE(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(to[0] == -1);
    cudart_cpu::register_kernel(kernel);
    CHECK(launched(symbol, to) == 7);
}

void variables_are_symbols() {
    int value = 20;
    CHECK_OK(cudaMemcpyToSymbol(&variable, &value, sizeof value, 0, cudaMemcpyHostToDevice));
    CHECK(launched(address(static_cast<void (*)(int*)>(forms::overloaded)), to) == 21);
}

} // namespace

int main() {
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&to), 4 * sizeof(int), cudaMemAttachGlobal));
    kernels_are_known_by_their_definitions();
    kernels_are_launched_by_calls_with_a_configuration();
    a_call_without_a_configuration_runs_nothing();
    an_instance_of_a_template_must_be_registered();
    variables_are_symbols();
    CHECK_OK(cudaFree(to));
}
