// Plain work in streams, where CUDA's calls fail or are counted.
#include "kernels.hpp"
#include "printed.hpp"
#include "several_devices.hpp"
#include "thrown.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <cstdint>
#include <optional>
#include <string>

using cudag::Error;
using cudag::Stream;

namespace {

template <class Call>
std::uint64_t calls_of(const Call& call) {
    const std::uint64_t before = cudart_cpu::call_count();
    call();
    return cudart_cpu::call_count() - before;
}

int value_of(const cudag::DeviceBuffer<int>& cell) {
    int value = 0;
    cudag::check(cudaMemcpy(&value, cell.data(), sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

cudag::Function multiply_add_of_all() {
    cudaKernel_t kernel = nullptr;
    cudag::check(cudaGetKernel(&kernel, cudag::detail::kernel_symbol(multiply_add)));
    return cudag::Function(kernel);
}

} // namespace

TEST_CASE("what a launch declares costs no call where nothing is captured", "[unit][stream]") {
    const Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    const auto declared = [&] {
        return calls_of([&] { cudag::launch(stream, {}, multiply_add, cudag::inout(cell.span()), cell.span(), 1, 1); });
    };
    const auto raw = [&] {
        return calls_of([&] { cudag::launch(stream, {}, multiply_add, cell.data(), cell.data(), 1, 1); });
    };
    static_cast<void>(raw()); // those that a process makes once
    CHECK(declared() == raw());
    {
        const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
            cudag::launch(s, {}, multiply_add, cudag::inout(cell.span()), cell.span(), 1, 1);
        });
        CHECK(graph.node_count() == 1);
    }
    stream.synchronize();
    CHECK(declared() == raw());
    stream.synchronize();
}

TEST_CASE("a captured launch stands, and is not tracked, where CUDA does not tell its node", "[unit][stream][faults]") {
    const Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    cudag::check(cudaMemset(cell.data(), 0, sizeof(int)));
    const auto capture = [&](std::uint64_t call) {
        return cudag::capture(stream, [&](cudaStream_t s) {
            cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
            cudag::launch(s, {}, multiply_add, cudag::inout(cell.span()), cell.span(), 1, 1);
            cudart_cpu::fail_call(0, cudaSuccess);
            CHECK(cudaPeekAtLastError() == cudaSuccess);
        });
    };
    std::uint64_t calls = 0;
    {
        const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
            calls = calls_of([&] { cudag::launch(s, {}, multiply_add, cudag::inout(cell.span()), cell.span(), 1, 1); });
        });
        CHECK(graph.node_count() == 1);
    }
    const cudag::Graph graph = capture(calls); // the last one asks for the node
    CHECK(graph.node_count() == 1);
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
}

TEST_CASE("a Function is launched with attributes in a stream of another device", "[unit][stream][device]") {
    const SeveralDevices devices(2);
    cudag::check(cudaSetDevice(1));
    const Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    cudag::check(cudaMemset(cell.data(), 0, sizeof(int)));
    cudag::check(cudaDeviceSynchronize());
    cudag::check(cudaSetDevice(0));
    const cudag::Function function = multiply_add_of_all();
    const cudag::LaunchConfig config{.priority = 0};
    const auto launch = [&] { cudag::launch(stream, config, function, cell.data(), cell.data(), 1, 1); };
    launch();
    CHECK(cudaGetLastError() == cudaSuccess);
    stream.synchronize();

    // CUDA does not know the handle where it is launched, but on the stream's device.
    const std::uint64_t usual = calls_of(launch);
    cudart_cpu::fail_call(usual, cudaErrorInvalidResourceHandle);
    CHECK_NOTHROW(launch());
    CHECK(cudaGetLastError() == cudaSuccess);
    stream.synchronize();
    CHECK(value_of(cell) == 0);
    cudart_cpu::fail_call(usual, cudaErrorMemoryAllocation); // any other failure is one everywhere
    CHECK(thrown<Error>(launch).code().value() == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaSuccess);
    stream.synchronize();
    int device = -1;
    cudag::check(cudaGetDevice(&device));
    CHECK(device == 0);
}

TEST_CASE("only a Function is tried on another device when CUDA does not know a handle", "[unit][stream][device]") {
    const SeveralDevices devices(2);
    const Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    const auto launch = [&] { cudag::launch(stream, {.priority = 0}, multiply_add, cell.data(), cell.data(), 1, 1); };
    launch();
    cudart_cpu::fail_call(calls_of(launch), cudaErrorInvalidResourceHandle);
    const auto error = thrown<Error>(launch);
    CHECK(error.code().value() == cudaErrorInvalidResourceHandle);
    CHECK(error.operation() == "cudaLaunchKernelExC");
    CHECK(cudaGetLastError() == cudaSuccess);
    stream.synchronize();
}

TEST_CASE("a buffer that CUDA does not free is told with CUDA's function", "[unit][memory][faults]") {
    cudaError_t last = cudaErrorInvalidValue;
    const auto told = [&](auto&& make) {
        auto buffer = std::make_optional(make());
        auto* const memory = buffer->data();
        last = last == cudaErrorInvalidValue ? cudaErrorUnknown : cudaErrorInvalidValue; // the same is told once
        std::string text = printed([&] {
            cudart_cpu::fail_call(1, last);
            buffer.reset();
            cudart_cpu::fail_call(0, cudaSuccess);
        });
        return std::pair(text, memory);
    };
    const auto [of_device, device_memory] = told([] { return cudag::DeviceBuffer<int>(4); });
    CHECK_THAT(of_device, StartsWith("cudag: in a destructor: cudaFree: "));
    cudag::check(cudaFree(device_memory)); // it is still there
    const auto [of_host, host_memory] = told([] { return cudag::PinnedBuffer<int>(4); });
    CHECK_THAT(of_host, StartsWith("cudag: in a destructor: cudaFreeHost: "));
    cudag::check(cudaFreeHost(host_memory));
}
