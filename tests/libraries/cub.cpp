// CUB, captured.
#include <memory>

#include <catch.hpp>

#include "cub_sum.hpp"
#include "memory.hpp"

using cudag::capture;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

TEST_CASE("a captured CUB reduction with its temporary storage replays with changed inputs as it runs eagerly",
          "[libraries]") {
    constexpr int count = 1 << 20;
    const Stream stream;
    const DeviceBuffer<float> in(count);
    const DeviceBuffer<float> out(1);
    std::size_t bytes = 0;
    check(cub_sum(nullptr, bytes, in.data(), out.data(), count, stream.get()));
    auto temporary = std::make_unique<DeviceBuffer<char>>(bytes);
    const auto enqueue = [&](void* storage) {
        check(cub_sum(storage, bytes, in.data(), out.data(), count, stream.get()));
    };
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.retain(*temporary);
        enqueue(temporary->data());
    });
    temporary.reset(); // the graph keeps it
    CHECK(graph.node_count() >= 1);
    for (const cudag::Node& node : graph.nodes())
        CHECK(node.kind() == NodeKind::kernel);

    Exec exec = graph.instantiate();
    const DeviceBuffer<char> other(bytes);
    for (const unsigned seed : {1U, 20U, 300U}) {
        write(in, numbers(count, seed));
        enqueue(other.data());
        stream.synchronize();
        const std::vector<float> expected = read(out);
        write(out, {-1.0f});
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(out) == expected);
    }
}

TEST_CASE("a captured CUB reduction runs on other buffers that it is bound to", "[libraries][bind]") {
    constexpr int count = 1 << 20;
    const Stream stream;
    const DeviceBuffer<float> in(count), out(1);
    std::size_t bytes = 0;
    check(cub_sum(nullptr, bytes, in.data(), out.data(), count, stream.get()));
    const DeviceBuffer<char> temporary(bytes);
    const auto enqueue = [&](const DeviceBuffer<float>& from, const DeviceBuffer<float>& to) {
        check(cub_sum(temporary.data(), bytes, from.data(), to.data(), count, stream.get()));
    };
    const cudag::Graph graph = capture(stream, [&](StreamCapture&) { enqueue(in, out); });
    const auto input = graph.parameter(in, {.in_objects = true});
    const auto result = graph.parameter(out, {.in_objects = true});
    Exec exec = graph.instantiate();
    write(in, numbers(count, 7));
    for (const unsigned seed : {20U, 300U}) {
        const DeviceBuffer<float> other_in(count), other_out(1);
        write(other_in, numbers(count, seed));
        write(out, {-1.0f});
        enqueue(other_in, other_out);
        stream.synchronize();
        const std::vector<float> expected = read(other_out);
        write(other_out, {-1.0f});
        CHECK(exec.bind({{input, other_in}, {result, other_out}}) >= 1);
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(other_out) == expected);
        CHECK(read(out) == std::vector{-1.0f});
    }
}
