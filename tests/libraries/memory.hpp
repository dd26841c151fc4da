// Device memory with known contents.
#pragma once

#include <cstddef>
#include <vector>

#include <cudag/cudag.hpp>

template <class T>
void write(const cudag::DeviceBuffer<T>& memory, const std::vector<T>& values) {
    cudag::check(cudaMemcpy(memory.data(), values.data(), memory.size_bytes(), cudaMemcpyHostToDevice));
    cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
}

template <class T>
std::vector<T> read(const cudag::DeviceBuffer<T>& memory) {
    std::vector<T> values(memory.size());
    cudag::check(cudaMemcpy(values.data(), memory.data(), memory.size_bytes(), cudaMemcpyDeviceToHost));
    return values;
}

/// `count` different small numbers.
inline std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::vector<float> values(count);
    for (float& value : values) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(seed >> 24U) / 64.0f - 2.0f;
    }
    return values;
}
