// Fault injection, call counting, the last error, refusal inside host functions.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <string_view>
#include <thread>

namespace {

void the_chosen_call_fails_before_it_has_an_effect() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    void* untouched = &untouched;
    cudart_cpu::fail_call(2, cudaErrorMemoryAllocation);
    int device = -1;
    CHECK_OK(cudaGetDevice(&device));
    CHECK_CODE(cudaErrorMemoryAllocation, cudaMalloc(&untouched, 16));
    CHECK(untouched == &untouched);
    CHECK(cudart_cpu::live() == before);
    CHECK_OK(cudaGetDevice(&device));
    CHECK_CODE(cudaErrorMemoryAllocation, cudaPeekAtLastError());
    CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
    CHECK_CODE(cudaSuccess, cudaGetLastError());
}

void a_fault_can_be_disarmed() {
    cudart_cpu::fail_call(1, cudaErrorUnknown);
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK_OK(cudaDeviceSynchronize());
}

void only_api_calls_are_counted() {
    const auto before = cudart_cpu::call_count();
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
    CHECK(cudart_cpu::call_count() == before + 2);
    (void)cudaGetLastError();
    (void)cudaPeekAtLastError();
    (void)cudaGetErrorString(cudaSuccess);
    CHECK(cudart_cpu::call_count() == before + 2);
}

void the_last_error_belongs_to_the_thread() {
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(1));
    std::thread([] { CHECK_CODE(cudaSuccess, cudaGetLastError()); }).join();
    // A call that succeeds does not clear it.
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_CODE(cudaErrorInvalidDevice, cudaGetLastError());
}

void host_functions_must_not_call_cuda() {
    cudaError_t inside = cudaSuccess;
    CHECK_OK(cudaLaunchHostFunc(
        nullptr, [](void* result) { *static_cast<cudaError_t*>(result) = cudaDeviceSynchronize(); }, &inside));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_CODE(cudaErrorNotPermitted, inside);
    CHECK_CODE(cudaSuccess, cudaGetLastError());
}

void errors_have_names_and_descriptions() {
    CHECK(cudaGetErrorName(cudaErrorGraphExecUpdateFailure) == std::string_view("cudaErrorGraphExecUpdateFailure"));
    CHECK(cudaGetErrorString(cudaErrorInvalidValue) == std::string_view("invalid argument"));
    CHECK(cudaGetErrorString(static_cast<cudaError_t>(12345)) == std::string_view("unrecognized error code"));
    CHECK(cudaGetErrorName(static_cast<cudaError_t>(10)) == std::string_view("unrecognized error code"));
}

} // namespace

int main() {
    the_chosen_call_fails_before_it_has_an_effect();
    a_fault_can_be_disarmed();
    only_api_calls_are_counted();
    the_last_error_belongs_to_the_thread();
    host_functions_must_not_call_cuda();
    errors_have_names_and_descriptions();
}
