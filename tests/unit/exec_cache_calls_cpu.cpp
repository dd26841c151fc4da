// What a launch by an ExecCache asks of CUDA while all of its execs are in flight.
#include "gate.hpp"
#include "kernels.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <cstddef>
#include <cstdint>

namespace {

/// Graphs with another structure for each number: fills and kernels by its bits.
cudag::Graph numbered(std::size_t number, const cudag::DeviceBuffer<int>& cell) {
    cudag::GraphBuilder b;
    cudag::Node last = b.memset(cell, 0);
    for (std::size_t bits = number + 1; bits != 0; bits /= 2)
        if (bits % 2 == 0)
            last = b.memset(cell, 1).after(last);
        else
            last = b.kernel({}, multiply_add, cell.data(), cell.data(), 1, 1).after(last);
    return std::move(b).build();
}

/// How many calls the launch of a kept exec takes, beside `count` others that wait for a gate in `streams` streams.
std::uint64_t calls_beside(std::size_t count, std::size_t streams) {
    const std::vector<cudag::Stream> all(streams);
    std::vector<cudag::DeviceBuffer<int>> cells; // of each stream
    for (std::size_t i = 0; i < streams; ++i)
        cells.emplace_back(1);
    std::vector<cudag::Graph> graphs;
    for (std::size_t i = 0; i < count; ++i)
        graphs.push_back(numbered(i, cells[i % streams]));
    cudag::ExecCache cache({.capacity = 1});
    Gate gate;
    std::vector<cudag::Graph> gates;
    for (const cudag::Stream& stream : all) {
        cudag::GraphBuilder b;
        b.host(gate.waiter());
        gates.push_back(std::move(b).build());
        cudag::Exec(gates.back().instantiate()).launch(stream);
    }
    for (std::size_t i = 0; i < count; ++i)
        cache.launch(graphs[i], all[i % streams]);
    CHECK(cache.stats().execs == count);
    cache.launch(graphs.back(), all[(count - 1) % streams]);
    const std::uint64_t before = cudart_cpu::call_count();
    cache.launch(graphs.back(), all[(count - 1) % streams]);
    const std::uint64_t calls = cudart_cpu::call_count() - before;
    gate.open();
    for (const cudag::Stream& stream : all)
        stream.synchronize();
    cache.launch(graphs.back(), all.front());
    CHECK(cache.stats().execs == 1);
    all.front().synchronize();
    return calls;
}

} // namespace

TEST_CASE("a launch beside many execs in flight asks CUDA as much as beside few", "[unit][cache]") {
    CHECK(calls_beside(64, 1) == calls_beside(4, 1));
    CHECK(calls_beside(64, 4) == calls_beside(8, 4));
    CHECK(calls_beside(64, 16) == calls_beside(8, 4)); // not about one exec in each stream
}
