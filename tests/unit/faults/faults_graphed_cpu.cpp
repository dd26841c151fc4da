// Every runtime call that fails while a GraphedFunction warms up, captures or replays.
#include "faults.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

using cudag::DeviceSpan;
using cudag::Stream;

namespace {

constexpr int size = 8;

struct Forward {
    cudaStream_t side = nullptr; ///< in which the function was called
    cudag::GraphedFunction<DeviceSpan<int>(cudaStream_t, DeviceSpan<int>, DeviceSpan<const int>)> function{
        [this](cudaStream_t stream, DeviceSpan<int> to, DeviceSpan<const int> plus) {
            side = stream;
            cudag::launch(stream, cudag::grid_1d(size, size), multiply_add, to, plus, size, 3);
            return to;
        }};
    std::vector<int> x = std::vector<int>(size, 2);
    std::vector<int> y = std::vector<int>(size, 5);
    DeviceSpan<int> output;

    void operator()(const Stream& stream) { output = function.forward(stream, x, y); }

    /// A fault in the place of cudaStreamEndCapture lets the capture go on, as no failure of CUDA's own does.
    void end_capture() const {
        cudaStreamCaptureStatus status{};
        if (side != nullptr) cudag::check(cudaStreamIsCapturing(side, &status));
        if (status == cudaStreamCaptureStatusNone) return;
        cudaGraph_t graph = nullptr;
        static_cast<void>(cudaStreamEndCapture(side, &graph));
        static_cast<void>(cudaGetLastError());
    }

    void check_result(const Stream& stream) const {
        stream.synchronize();
        std::vector<int> result(size);
        cudag::check(cudaMemcpy(result.data(), output.data(), output.size_bytes(), cudaMemcpyDeviceToHost));
        CHECK(result == std::vector<int>(size, 11));
    }
};

/// Holds what comes after it in `stream` up for a while.
void hold_up(cudaStream_t stream) {
    const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
    cudag::check(cudaLaunchHostFunc(stream, wait, nullptr));
}

template <class Call>
std::uint64_t calls_of(const Call& call) {
    const std::uint64_t before = cudart_cpu::call_count();
    call();
    return cudart_cpu::call_count() - before;
}

} // namespace

TEST_CASE("a graphed function that fails to make a shape has none, and makes it the next time", "[unit][faults]") {
    const Stream stream;
    Forward forward;
    std::uint64_t captures = 0;
    const Faults faults =
        for_every_call_failing([&] { forward(stream); },
                               [&] {
                                   forward.end_capture();
                                   if (forward.function.size() == 1) forward.check_result(stream);
                                   CHECK(forward.function.captures() - captures == forward.function.size());
                                   stream.synchronize();
                               },
                               [&] {
                                   forward.function.reset();
                                   captures = forward.function.captures();
                               });
    CHECK(faults.thrown >= 20);
    forward.check_result(stream);
}

TEST_CASE("a graphed function without memory for a shape tells how much its inputs take", "[unit][faults]") {
    const Stream stream;
    Forward forward;
    unsigned told = 0;
    for (std::uint64_t call = 1; forward.function.size() == 0; ++call) {
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            forward(stream);
        } catch (const cudag::Error& error) {
            cudart_cpu::fail_call(0, cudaSuccess);
            if (error.operation() != "cudaMallocAsync") continue;
            ++told;
            CHECK_THAT(error.what(), StartsWith("cudag: GraphedFunction at ") &&
                                         ContainsSubstring(": forward: 512 bytes of static inputs: cudaMallocAsync: "));
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        forward.end_capture();
    }
    CHECK(told == 1);
}

TEST_CASE("a graphed function that fails to replay a shape keeps it", "[unit][faults]") {
    const Stream first;
    const Stream second;
    Forward forward;
    forward(first);
    const Faults faults = for_every_call_failing([&] { forward(second); },
                                                 [&] {
                                                     CHECK(forward.function.size() == 1);
                                                     forward(first);
                                                     forward.check_result(first);
                                                 });
    CHECK(faults.thrown == 6); // two questions about the stream, a wait, two copies and the launch
    CHECK(faults.ignored == 1);
    CHECK(forward.function.captures() == 1);
    forward.check_result(second);
}

TEST_CASE("a graphed function whose inputs are bound has none or all of a replay that fails", "[unit][faults]") {
    const Stream stream;
    const cudag::DeviceBuffer<int> out(size);
    cudag::GraphedFunction<void(cudaStream_t, DeviceSpan<const int>, DeviceSpan<const int>)> f(
        [&](cudaStream_t s, DeviceSpan<const int> x, DeviceSpan<const int> y) {
            cudag::memset_async(s, out, 0);
            cudag::launch(s, cudag::grid_1d(size, size), multiply_add, out.span(), x, size, 3);
            cudag::launch(s, cudag::grid_1d(size, size), multiply_add, out.span(), y, size, 5);
        },
        {.bind_inputs = true});
    const std::vector<cudag::DeviceBuffer<int>> inputs = [] {
        std::vector<cudag::DeviceBuffer<int>> made;
        for (int value = 1; value <= 3; ++value) {
            made.emplace_back(size);
            cudag::check(cudaMemcpy(made.back().data(), std::vector<int>(size, value).data(), size * sizeof(int),
                                    cudaMemcpyHostToDevice));
        }
        return made;
    }();
    const auto run = [&](std::size_t a, std::size_t b) {
        f.forward(stream, inputs[a], inputs[b]);
        stream.synchronize();
        std::vector<int> result(size);
        cudag::check(cudaMemcpy(result.data(), out.data(), out.size_bytes(), cudaMemcpyDeviceToHost));
        return result.front();
    };
    const int first = run(0, 1);
    const int other = run(2, 0);
    REQUIRE(first != other);
    CHECK(run(0, 1) == first);
    const Faults faults = for_every_call_failing([&] { f.forward(stream, inputs[2], inputs[0]); },
                                                 [&] {
                                                     CHECK(run(0, 1) == first);
                                                     CHECK(f.size() == 1);
                                                 });
    CHECK(faults.thrown == 5); // two questions about the stream, two updates and the launch
    CHECK(run(2, 0) == other);
    CHECK(f.copied_inputs() == 0);
}

TEST_CASE("where a replay cannot be marked, or is not launched, what was enqueued for it has ended", "[unit][faults]") {
    const Stream stream;
    cudag::GraphedFunction<void(cudaStream_t, DeviceSpan<const int>)> f(
        [](cudaStream_t s, DeviceSpan<const int>) { hold_up(s); });
    const cudag::DeviceBuffer<int> x(size);
    f.forward(stream, x);
    const std::uint64_t calls = calls_of([&] { f.forward(stream, x); });
    stream.synchronize();

    cudart_cpu::fail_call(calls, cudaErrorMemoryAllocation); // the mark
    f.forward(stream, x);
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(stream.query());

    hold_up(stream.get()); // the copy of the input comes after it
    cudart_cpu::fail_call(calls - 1, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(f.forward(stream, x), cudag::Error);
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(stream.query());
}

TEST_CASE("inputs of a graphed function are saved only where its static inputs overlap them", "[unit][capture]") {
    const Stream stream;
    using Cells = DeviceSpan<int>;
    cudag::GraphedFunction<std::pair<Cells, Cells>(cudaStream_t, Cells, Cells)> f([](cudaStream_t s, Cells a, Cells b) {
        cudag::launch(s, {}, multiply_add, a, b, 1, 1);
        return std::pair(a, b);
    });
    constexpr std::size_t count = 64; // so that there is nothing between the static inputs
    const cudag::DeviceBuffer<int> x(count);
    const cudag::DeviceBuffer<int> y(count);
    for (const cudag::DeviceBuffer<int>* zeros : {&x, &y})
        cudag::check(cudaMemset(zeros->data(), 0, count * sizeof(int)));
    cudag::check(cudaDeviceSynchronize()); // no stream of cudag's waits for the legacy default stream
    const std::pair<Cells, Cells> outputs = f.forward(stream, x, y);
    const Cells a = outputs.first, b = outputs.second;
    REQUIRE(b.data() == a.data() + count);
    const std::uint64_t apart = calls_of([&] { f.forward(stream, x, y); });
    CHECK(calls_of([&] { f.forward(stream, a, y); }) == apart - 1); // in place
    CHECK(calls_of([&] { f.forward(stream, b, y); }) == apart);     // behind what is written
    CHECK(calls_of([&] { f.forward(stream, a, a); }) == apart - 1); // before it
    CHECK(calls_of([&] { f.forward(stream, b, a); }) > apart);
    CHECK(calls_of([&] { f.forward(stream, Cells(a.data() + 1, count), y); }) > apart); // partly where it is copied to
    stream.synchronize();
}
