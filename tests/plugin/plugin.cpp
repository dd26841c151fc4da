// A library built on cudag for programs that load it when they run: a function of C that launches a graph.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <exception>
#include <numeric>
#include <utility>
#include <vector>

namespace {

int sum_of_squares(int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1);
    const cudag::DeviceBuffer<int> x(values.size());

    cudag::GraphBuilder builder;
    auto up = builder.memcpy(x, values);
    auto squares = builder.kernel(cudag::grid_1d(values.size(), 64), square, 0, x).after(up);
    builder.memcpy(values, x).after(squares);
    cudag::Exec exec = std::move(builder).build().instantiate();
    exec.update(squares, cudag::arg<0>(n));
    const cudag::Stream stream;
    cudag::launch(stream, cudag::grid_1d(values.size(), 64), square, 0, x); // what a thread keeps of launches
    exec.launch(stream);
    stream.synchronize();
    return std::accumulate(values.begin(), values.end(), 0);
}

} // namespace

/// The sum of the squares of 1 to n; -1 after an error, which stderr tells.
extern "C" __attribute__((visibility("default"))) int plugin_sum_of_squares(int n) {
    try {
        return sum_of_squares(n);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return -1;
    }
}
