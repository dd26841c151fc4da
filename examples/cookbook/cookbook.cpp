// The checks of the recipes' results.
#include "cookbook.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace cookbook {

void expect(std::span<const float> values, float expected) {
    for (const float value : values)
        if (!(std::abs(value - expected) <= 1e-4f * std::abs(expected)))
            throw std::runtime_error("a result is " + std::to_string(value) + ", not " + std::to_string(expected));
}

void expect(const cudag::PinnedBuffer<float>& values, float expected) {
    expect(std::span<const float>(values.span()), expected);
}

void expect(cudag::DeviceSpan<const float> values, float expected) {
    std::vector<float> host(values.size());
    cudag::check(cudaMemcpy(host.data(), values.data(), values.size_bytes(), cudaMemcpyDeviceToHost));
    expect(std::span<const float>(host), expected);
}

void expect(const cudag::DeviceBuffer<float>& values, float expected) {
    expect(cudag::DeviceSpan<const float>(values.span()), expected);
}

void expect(bool holds, const char* text) {
    if (!holds) throw std::runtime_error(text);
}

} // namespace cookbook
