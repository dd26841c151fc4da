// Calls that fail while a thread that has made no CUDA call yet adds its first nodes.
#include "call.hpp"
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <exception>
#include <thread>
#include <utility>

namespace {

/// Runs `call()` in a new thread; what it throws is thrown here, and it must leave no last error there.
void in_new_thread(CallRef<> call) {
    std::exception_ptr thrown;
    cudaError_t left = cudaSuccess;
    std::thread([&] {
        try {
            call();
        } catch (...) {
            thrown = std::current_exception();
        }
        left = cudaPeekAtLastError();
    }).join();
    CHECK(left == cudaSuccess);
    if (thrown) std::rethrow_exception(thrown);
}

} // namespace

TEST_CASE("the first kernel node of a thread fails at any call without being added", "[unit][faults]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(4);
    cudag::GraphBuilder builder;
    const Faults faults = for_every_call_failing(
        [&] { in_new_thread([&] { builder.kernel(cudag::grid_1d(4, 4), multiply_add, x, x, 4, 1); }); });
    CHECK(faults.thrown >= 3);
    CHECK(std::move(builder).build().node_count() == faults.ignored + 1);
}

TEST_CASE("the first update of a thread fails at any call without changing anything", "[unit][faults]") {
    const NothingLeft check;
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> x(4);
    std::vector<int> result(4);
    cudag::memset_async(stream, x, 1);
    cudag::GraphBuilder builder;
    const auto kernel = builder.kernel(cudag::grid_1d(4, 4), multiply_add, x, x, 4, 1);
    cudag::Exec exec = std::move(builder).build().instantiate();
    const Faults faults =
        for_every_call_failing([&] { in_new_thread([&] { exec.update(kernel, cudag::arg<3>(9)); }); });
    CHECK(faults.thrown >= 1);
    exec.launch(stream);
    cudag::memcpy_async(stream, result, x);
    stream.synchronize();
    CHECK(result == std::vector<int>(4, 10));
}
