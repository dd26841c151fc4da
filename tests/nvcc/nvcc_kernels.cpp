// Graphs of kernels that only nvcc can compile, on either runtime.
#include "catch.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace {

constexpr int blocks = 32;
constexpr int n = blocks * 256;

std::vector<int> some_values() {
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i)
        values[static_cast<std::size_t>(i)] = i * 7 % 101;
    return values;
}

/// The last block's sum first.
std::vector<int> expected_of(const std::vector<int>& values) {
    std::vector<int> sums;
    for (auto block = values.begin(); block != values.end(); block += 256)
        sums.push_back(std::accumulate(block, block + 256, 0));
    std::reverse(sums.begin(), sums.end());
    return sums;
}

} // namespace

TEST_CASE("kernels with barriers and shuffles run in a graph that was built", "[nvcc]") {
    const std::vector<int> values = some_values();
    std::vector<int> result(blocks, -1);
    cudag::DeviceBuffer<int> input(n), sums(blocks), out(blocks);

    cudag::GraphBuilder builder;
    auto upload = builder.memcpy(input, values);
    auto sum = builder.kernel({blocks, 256}, nvcc_tests::block_sums, input, sums, n).after(upload);
    auto reverse = builder
                       .kernel({.grid = 1, .block = blocks, .shared_bytes = blocks * sizeof(int)}, nvcc_tests::reversed,
                               sums, out, blocks)
                       .after(sum);
    builder.memcpy(result, out).after(reverse);
    const cudag::Graph graph = std::move(builder).build();
    cudag::Exec exec = graph.instantiate();
    cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    REQUIRE(result == expected_of(values));

    exec.update(sum, cudag::arg<2>(n - 1)); // without the last value
    exec.launch(stream);
    stream.synchronize();
    std::vector<int> less = expected_of(values);
    less.front() -= values.back();
    REQUIRE(result == less);
}

TEST_CASE("code that launches by <<<>>> is captured", "[nvcc]") {
    const std::vector<int> values = some_values();
    cudag::PinnedBuffer<int> result(blocks);
    cudag::DeviceBuffer<int> input(n), sums(blocks), out(blocks);

    cudag::Stream stream;
    const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::memcpy_async(s, input, values);
        nvcc_tests::sums_then_reversed(input.data(), sums.data(), out.data(), n, s);
        cudag::memcpy_async(s, result, out);
    });
    REQUIRE(graph.node_count() == 4);
    cudag::Exec exec = graph.instantiate();
    for (int launch = 0; launch < 3; ++launch) {
        std::fill_n(result.data(), blocks, -1);
        exec.launch(stream);
        stream.synchronize();
        REQUIRE(std::vector<int>(result.data(), result.data() + blocks) == expected_of(values));
    }
}
