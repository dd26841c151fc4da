// A call that fails while a captured node is read is no end of its list of parameters.
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
