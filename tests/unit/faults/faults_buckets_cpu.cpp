// Every runtime call that fails while a GraphedFunction with buckets prepares, captures or replays.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <vector>

using cudag::DeviceSpan;
using cudag::Stream;
using cudag::Valid;

namespace {

struct Padded {
    cudaStream_t side = nullptr; ///< in which the function was called
    cudag::GraphedFunction<DeviceSpan<int>(cudaStream_t, DeviceSpan<int>, DeviceSpan<const int>, Valid)> function{
        [this](cudaStream_t stream, DeviceSpan<int> to, DeviceSpan<const int> plus, Valid) {
            side = stream;
            const int size = static_cast<int>(to.size());
            cudag::launch(stream, cudag::grid_1d(to.size(), 8), multiply_add, to, plus, size, 3);
            return to;
        },
        {.bucket = {8, 16}}};
    std::vector<int> x = std::vector<int>(5, 2);
    std::vector<int> y = std::vector<int>(5, 5);
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
        std::vector<int> result(5);
        REQUIRE(output.size() == 5);
        cudag::check(cudaMemcpy(result.data(), output.data(), output.size_bytes(), cudaMemcpyDeviceToHost));
        CHECK(result == std::vector<int>(5, 11));
    }
};

} // namespace

TEST_CASE("a bucket that fails to be made is none, and is made the next time", "[unit][faults]") {
    { // what is made once
        const Stream once;
        Padded()(once);
        once.synchronize();
    }
    const NothingLeft nothing_left(NothingLeft::Events::may_stay);
    const Stream stream;
    Padded padded;
    std::uint64_t captures = 0;
    const Faults faults =
        for_every_call_failing([&] { padded(stream); },
                               [&] {
                                   padded.end_capture();
                                   if (padded.function.size() == 1) padded.check_result(stream);
                                   CHECK(padded.function.captures() - captures == padded.function.size());
                                   stream.synchronize();
                               },
                               [&] {
                                   padded.function.reset();
                                   captures = padded.function.captures();
                               });
    CHECK(faults.thrown >= 20);
    padded.check_result(stream);
}

TEST_CASE("a prepare in which a call fails prepares nothing", "[unit][faults]") {
    { // what is made once
        const Stream once;
        Padded()(once);
        once.synchronize();
    }
    const NothingLeft nothing_left(NothingLeft::Events::may_stay);
    const Stream stream;
    Padded padded;
    const Faults faults = for_every_call_failing(
        [&] {
            padded.function.prepare(stream, {8, 16});
        },
        [&] {
            padded.end_capture();
            const std::size_t size = padded.function.size();
            CHECK((size == 0 || size == 2));
            stream.synchronize();
        },
        [&] { padded.function.reset(); });
    CHECK(faults.thrown >= 40);
    CHECK(padded.function.size() == 2);
    padded(stream);
    padded.check_result(stream);
}

TEST_CASE("a padded replay that fails keeps its graph", "[unit][faults]") {
    const NothingLeft nothing_left(NothingLeft::Events::may_stay);
    const Stream first, second;
    Padded padded;
    padded(first);
    const Faults faults = for_every_call_failing([&] { padded(second); },
                                                 [&] {
                                                     CHECK(padded.function.size() == 1);
                                                     padded(first);
                                                     padded.check_result(first);
                                                 });
    CHECK(faults.thrown == 9); // as without buckets, two fills of padding, and the number of valid items
}
