// Every runtime call that fails in streams, events, buffers and plain stream work.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <utility>
#include <vector>

namespace {

void check_throws_once(const Faults& faults) {
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 0);
}

/// For what makes several calls.
void check_throws_always(const Faults& faults) {
    CHECK(faults.thrown > 0);
    CHECK(faults.ignored == 0);
}

/// Of a graph with a host node that throws.
cudag::Exec exec_that_throws() {
    cudag::GraphBuilder builder;
    builder.host([] { throw std::runtime_error("from the host node"); });
    return std::move(builder).build().instantiate();
}

} // namespace

TEST_CASE("an owner that CUDA cannot make is not made", "[unit][faults]") {
    const NothingLeft check;
    check_throws_once(for_every_call_failing([] { return cudag::Stream(); }));
    check_throws_once(for_every_call_failing([] { return cudag::Event(); }));
    check_throws_once(for_every_call_failing([] { return cudag::Event({.timing = false}); }));
    check_throws_once(for_every_call_failing([] { return cudag::DeviceBuffer<float>(100); }));
    check_throws_once(for_every_call_failing([] { return cudag::PinnedBuffer<float>(100); }));
    check_throws_once(for_every_call_failing([] { return cudag::GraphBuilder(); }));
}

TEST_CASE("an allocation that fails says what was wanted", "[unit][faults]") {
    const auto on_device = [] { return cudag::DeviceBuffer<double>(100); };
    const auto on_host = [] { return cudag::PinnedBuffer<short>(100); };
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_MATCHES(on_device(), cudag::Error,
                         MessageMatches(StartsWith("cudag: DeviceBuffer of 100 elements of 8 bytes at ") &&
                                        ContainsSubstring("faults_stream_cpu.cpp:46: cudaMalloc: ")));
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_MATCHES(on_host(), cudag::Error,
                         MessageMatches(StartsWith("cudag: PinnedBuffer of 100 elements of 2 bytes at ") &&
                                        ContainsSubstring("faults_stream_cpu.cpp:47: cudaMallocHost: ")));
}

TEST_CASE("a call on a stream or an event that fails leaves it usable", "[unit][faults]") {
    const NothingLeft check;
    const cudag::Stream stream;
    cudag::Event start;
    cudag::Event end;
    check_throws_once(for_every_call_failing([&] { stream.synchronize(); }));
    check_throws_once(for_every_call_failing([&] { return stream.query(); }));
    check_throws_always(for_every_call_failing([&] { start.record(stream); }));
    check_throws_always(for_every_call_failing([&] { end.record(stream); }));
    check_throws_once(for_every_call_failing([&] { end.synchronize(); }));
    check_throws_once(for_every_call_failing([&] { return end.query(); }));
    check_throws_once(for_every_call_failing([&] { return end.milliseconds_since(start); }));
    CHECK(end.query());
    CHECK(end.milliseconds_since(start) >= 0.0f);
}

TEST_CASE("stream work that fails does not run", "[unit][faults]") {
    const NothingLeft check;
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> x(4);
    const cudag::DeviceBuffer<int> y(4);
    std::vector<int> host{1, 2, 3, 4};
    const auto read = [&](const cudag::DeviceBuffer<int>& from) {
        std::vector<int> result(4);
        cudag::memcpy_async(stream, result, from);
        stream.synchronize();
        return result;
    };

    cudag::memset_async(stream, x, 0);
    SECTION("memcpy_async") {
        const Faults faults = for_every_call_failing([&] { cudag::memcpy_async(stream, x, host); },
                                                     [&] { CHECK(read(x) == std::vector<int>(4, 0)); });
        check_throws_always(faults);
        CHECK(read(x) == host);
    }
    SECTION("memset_async") {
        const Faults faults = for_every_call_failing([&] { cudag::memset_async(stream, x, 9); },
                                                     [&] { CHECK(read(x) == std::vector<int>(4, 0)); });
        check_throws_always(faults);
        CHECK(read(x) == std::vector<int>(4, 9));
    }
    SECTION("launch") {
        cudag::memset_async(stream, y, 5);
        const Faults faults =
            for_every_call_failing([&] { cudag::launch(stream, cudag::grid_1d(4, 4), multiply_add, x, y, 4, 1); },
                                   [&] { CHECK(read(x) == std::vector<int>(4, 0)); });
        check_throws_always(faults);
        CHECK(read(x) == std::vector<int>(4, 5));
    }
}

TEST_CASE("a synchronisation that fails keeps the exception of a host node for the next", "[unit][faults]") {
    const NothingLeft check; // so that no call that is to fail is made for an earlier test's owners
    const cudag::Stream stream;
    cudag::Exec exec = exec_that_throws();
    exec.launch(stream);
    check_throws_once([&] {
        Faults faults;
        cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
        try {
            stream.synchronize();
        } catch (const cudag::Error&) {
            ++faults.thrown;
        }
        return faults;
    }());
    CHECK_THROWS_MATCHES(stream.synchronize(), cudag::HostError,
                         MessageMatches(ContainsSubstring("from the host node")));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an exception of a host node is told by the first synchronisation in which no call fails", "[unit][faults]") {
    const NothingLeft check; // so that no call that is to fail is made for an earlier test's owners
    const cudag::Stream stream;
    cudag::Exec exec = exec_that_throws();
    exec.launch(stream);
    unsigned silent = 0; // where CUDA does not say which stream it is
    const auto is_told_with_fault = [&](std::uint64_t call) {
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            stream.synchronize();
            ++silent;
            return false;
        } catch (const cudag::HostError&) {
            return true;
        } catch (const cudag::Error&) {
            return false;
        }
    };
    std::uint64_t call = 1;
    for (; !is_told_with_fault(call); ++call)
        CHECK(cudaGetLastError() == cudaSuccess);
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(call > 2);
    CHECK(silent == 1);
}
