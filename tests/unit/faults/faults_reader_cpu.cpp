// A call or an allocation that fails while captured nodes are read.
#include "allocation_faults.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

TEST_CASE("a captured node that could not be read is read as a whole the next time", "[unit][faults]") {
    const cudag::PinnedBuffer<int> x(1);
    const cudag::PinnedBuffer<int> y(1);
    const cudag::Stream stream;
    for (std::uint64_t call = 1;; ++call) {
        CAPTURE(call);
        x[0] = 2;
        y[0] = 1;
        const cudag::Graph graph = cudag::capture(
            stream, [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, x.data(), y.data(), 1, 3); });
        cudag::Exec exec = graph.instantiate();
        const std::uint64_t before = cudart_cpu::call_count();
        cudart_cpu::fail_call(call, cudaErrorInvalidValue);
        try {
            static_cast<void>(graph.find(multiply_add));
        } catch (const cudag::Error&) {
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        const bool reached = cudart_cpu::call_count() - before >= call;
        const auto node = graph.find(multiply_add).at(0);
        CHECK(node.kernel_info().arguments.size() == 4);
        exec.update(node, cudag::arg<3>(5));
        exec.launch(stream);
        stream.synchronize();
        CHECK(x[0] == 11);
        if (!reached) return;
    }
}

TEST_CASE("nodes of a capture are read once, whatever allocation fails before", "[unit][faults]") {
    const cudag::PinnedBuffer<int> x(1);
    const cudag::PinnedBuffer<int> y(1);
    const cudag::Stream stream;
    const cudag::Stream other;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        const cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
            c.fork(other);
            for (int i = 0; i < 3; ++i) {
                cudag::launch(stream, {}, multiply_add, x.data(), x.data(), 1, i);
                cudag::launch(other, {}, multiply_add, y.data(), y.data(), 1, i);
            }
            c.join(other);
        });
        const auto failed = fails_without_allocation(n, [&] { static_cast<void>(graph.nodes()); });
        CHECK(graph.nodes().size() == 6);
        CHECK(graph.find(multiply_add).size() == 6);
        CHECK(graph.races().empty());
        if (!failed) return;
    }
}
