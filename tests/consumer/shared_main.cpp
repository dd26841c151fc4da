// A program that captures what launches a kernel by <<<>>>.
#include "shared.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

namespace {

bool run() {
    std::vector<int> values(32);
    std::iota(values.begin(), values.end(), 0);
    const cudag::DeviceBuffer<int> x(values.size());
    const cudag::Stream stream;
    const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::memcpy_async(s, x, values);
        reverse(s, x.data());
        cudag::memcpy_async(s, values, x);
    });
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    int right = 0;
    for (int i = 0; i < 32; ++i)
        right += values[static_cast<std::size_t>(i)] == 32 - i ? 1 : 0;
    std::printf("consumer: %d of 32 values right\n", right);
    return right == 32;
}

} // namespace

int main() {
    try {
        return run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
