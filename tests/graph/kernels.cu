// The kernels of the graph tests.
#include "kernels.hpp"

__global__ void nothing() {}

__global__ void store(int* cell, int value) {
    *cell = value;
}

__global__ void add(int* to, const int* from, int value) {
    *to = *from + value;
}

__global__ void add_to(ToAndFrom cells, int value) {
    *cells.to = *cells.from + value;
}

__global__ void subtract(int* to, const int* from, int value) {
    *to = *from - value;
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void count_threads(unsigned* count, unsigned* sum, unsigned weight) {
    atomicAdd(count, 1U);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(sum, weight);
}

__global__ void mix(std::uint32_t* cells, unsigned self, Inputs inputs, std::uint32_t salt) {
    std::uint32_t hash = salt;
    for (unsigned i = 0; i < inputs.count; ++i)
        hash = hash * 31 + cells[inputs.cells[i]];
    cells[self] = hash;
}

__global__ void write_numbers(Numbers* out, signed char i8, unsigned char u8, short i16, unsigned short u16, int i32,
                              unsigned u32, long long i64, unsigned long long u64, float f32, double f64) {
    *out = Numbers{i8, u8, i16, u16, i32, u32, i64, u64, f32, f64};
}

__global__ void write_objects(Objects* out, Point point, Colour colour, bool flag) {
    *out = Objects{point, colour, flag};
}

__global__ void write_address(std::uint64_t* out, const void* address) {
    *out = reinterpret_cast<std::uint64_t>(address);
}

__global__ void sum(int* out, cudag::DeviceSpan<const int> in) {
    int total = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
        total += in[i];
    *out = total;
}
