// Every runtime call that fails while a GraphedFunction warms up, captures or replays.
#include "faults.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

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
