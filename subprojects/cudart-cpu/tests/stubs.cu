// Kernels in many forms.
#include "stubs.hpp"

#include "stubs_in_header.cuh"

__device__ int variable = 5;

namespace forms {

__global__ void overloaded(int* to) {
    *to = 1 + variable;
}

__global__ void overloaded(int* to, Three three, const int n) {
    *to = three.values[n];
}

extern "C" __global__ void unnamed(int* to, unsigned, const Three, Three, int* const, struct Three, float4,
                                   short last) {
    *to = last;
}

} // namespace forms

// A comment says __global__ void nothing( {
__global__ void __launch_bounds__(64) bounded(int* to, // with a comment
                                              int n = 3) noexcept {
    to[threadIdx.x] = n;
}

#define KERNEL(name, ...) __global__ void name(int* to, __VA_ARGS__)
KERNEL(made_by_macro, int value) {
    *to = value;
}

namespace {

constexpr const char* text = "__global__ void text(int* to) {";

__global__ static void internal(int* to) {
    *to = text[0];
}

template <class T, int add = (3 > 2)>
__global__ void of_template(T* to) {
    *to = add;
}

} // namespace

void* internal_kernel() {
    return reinterpret_cast<void*>(&internal);
}

void* instance_of_template() {
    return reinterpret_cast<void*>(static_cast<void (*)(int*)>(&of_template<int, 7>));
}
