// The kernels of the graph tests.
#pragma once

#include <cuda_runtime.h>

#include <cudag/span.hpp>

#include <cstdint>

/// One number of each kind, as a kernel received it.
struct Numbers {
    signed char i8;
    unsigned char u8;
    short i16;
    unsigned short u16;
    int i32;
    unsigned u32;
    long long i64;
    unsigned long long u64;
    float f32;
    double f64;
};

struct Point {
    double x;
    float y;
    char name;
};

enum class Colour : unsigned char { red = 3, green = 7 };

/// The objects that a kernel received.
struct Objects {
    Point point;
    Colour colour;
    bool flag;
};

/// The cells that a node reads.
struct Inputs {
    static constexpr unsigned capacity = 16;
    unsigned count;
    unsigned cells[capacity];
};

__global__ void nothing();
/// *cell = value
__global__ void store(int* cell, int value);
/// *to = *from + value
__global__ void add(int* to, const int* from, int value);
/// The same with both in an object.
struct ToAndFrom {
    int* to;
    const int* from;
};
__global__ void add_to(ToAndFrom cells, int value);
/// *to = *from - value
__global__ void subtract(int* to, const int* from, int value);
/// y[i] = a * x[i] + y[i], for i < n
__global__ void saxpy(int n, float a, const float* x, float* y);
/// Adds 1 to *count in every thread, and `weight` to *sum in one thread of each block.
__global__ void count_threads(unsigned* count, unsigned* sum, unsigned weight);
/// cells[self] becomes the hash of `salt` and the inputs' values, in order.
__global__ void mix(std::uint32_t* cells, unsigned self, Inputs inputs, std::uint32_t salt);

__global__ void write_numbers(Numbers* out, signed char i8, unsigned char u8, short i16, unsigned short u16, int i32,
                              unsigned u32, long long i64, unsigned long long u64, float f32, double f64);
__global__ void write_objects(Objects* out, Point point, Colour colour, bool flag);
/// The address, as a number.
__global__ void write_address(std::uint64_t* out, const void* address);
/// *out = the sum of `in`
__global__ void sum(int* out, cudag::DeviceSpan<const int> in);
