// Kernels that find memory in several ways.
#include "bind_kernels.hpp"

__global__ void count_range(const int* begin, const int* end, int* out) {
    int count = 0;
    while (begin != end && count < 1000) {
        ++begin;
        ++count;
    }
    *out = count;
}

__global__ void load_from(Input input, int* out) {
    *out = *input.in;
}

__global__ void load_at(unsigned long long in, int* out) {
    *out = *reinterpret_cast<const int*>(in); // NOLINT: an address of the device
}
