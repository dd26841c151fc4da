// What one file of relocatable device code has and another one uses.
#pragma once

struct Shape {
    __device__ virtual int area() const = 0;
};

struct Square : Shape {
    int side;
    __device__ explicit Square(int length) : side(length) {}
    __device__ int area() const override;
};

extern __device__ int total;
extern __constant__ int weights[2];

__device__ int weighted(int value);
__device__ int sum_of_block(int value); // with shared memory and a barrier
__device__ int ended_early(int limit);

template <class T>
__device__ __noinline__ T twice(T value) {
    return 2 * value;
}
