// Every runtime call that fails while the memory of graphs is looked at, or listed in an error.
#include "faults.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>
#include <cudag/footprint.hpp>

#include <catch.hpp>

#include <string>
#include <utility>
#include <vector>

using cudag::Footprint;
using cudag::Graph;
using cudag::Stream;

TEST_CASE("a footprint that cannot be told throws, and the graph is as before", "[unit][faults]") {
    const cudag::DeviceBuffer<int> cells(8);
    std::vector<int> host(8);
    cudag::GraphBuilder b;
    const auto up = b.memcpy(cells, host);
    b.memcpy(host, cells).after(up);
    const Graph graph = std::move(b).build();
    const Footprint before = graph.memory();
    const cudag::Exec exec = graph.instantiate();
    const Faults of_graph =
        for_every_call_failing([&] { static_cast<void>(graph.memory()); }, [&] { CHECK(graph.memory() == before); });
    CHECK(of_graph.thrown == 2); // the kind of memory of each copy
    const Faults of_exec =
        for_every_call_failing([&] { static_cast<void>(exec.memory()); }, [&] { CHECK(exec.memory() == before); });
    CHECK(of_exec.thrown == 2);
}

TEST_CASE("a pool without memory for a buffer keeps its high-water mark", "[unit][faults]") {
    cudag::CapturePool pool;
    const auto first = pool.allocate<char>(1000);
    const cudag::PoolFootprint before = pool.memory();
    std::size_t size = 4000;
    const Faults faults = for_every_call_failing([&] { return pool.allocate<char>(size *= 2); },
                                                 [&] {
                                                     if (pool.memory().reserved == before.reserved)
                                                         CHECK(pool.memory() == before);
                                                 });
    CHECK(faults.thrown >= 2);
    CHECK(pool.memory().used_high == 1000 + size);
}

TEST_CASE("an error without memory is told even if CUDA tells nothing about memory", "[unit][faults]") {
    const cudag::DeviceBuffer<char> held(1000);
    const auto text_with = [](std::uint64_t call) {
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            const cudag::DeviceBuffer<char> buffer(std::size_t{1} << 50U);
        } catch (const cudag::Error& error) {
            cudart_cpu::fail_call(0, cudaSuccess);
            CHECK(cudaGetLastError() == cudaSuccess);
            return std::string(error.what());
        }
        return std::string();
    };
    unsigned without_device = 0;
    for (std::uint64_t call = 1; call < 12; ++call) {
        const std::string text = text_with(call);
        CAPTURE(call, text);
        CHECK_THAT(text, ContainsSubstring("DeviceBuffer of ") && ContainsSubstring("; held: "));
        without_device += text.find("; the device has ") == std::string::npos ? 1 : 0;
    }
    CHECK(without_device == 1);
}
