// What a GraphedFunction refuses, and how it is after a failure: as before.
#include <stdexcept>

#include "graphed.hpp"

using cudag::CaptureError;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::Stream;

namespace {

/// Sums its input, but throws in its call number `failing`, after it has enqueued half of its work.
struct Failing {
    Total sums;
    int calls = 0;
    int failing = 0;

    auto function() {
        return [this, sum = sums.function()](cudaStream_t stream, DeviceSpan<const int> in) mutable {
            const DeviceSpan<int> output = sum(stream, in);
            if (++calls == failing) throw std::out_of_range("half-way");
            launch(stream, {}, add, output.data(), output.data(), 100);
            return output;
        };
    }
};

} // namespace

TEST_CASE("a graphed function whose warm-up throws half-way is as before", "[capture][graphed]") {
    Failing failing;
    const Stream stream;
    GraphedFunction f(failing.function(), {.warm_up_runs = 3});
    for (const int call : {1, 2, 3}) {
        failing.calls = 0;
        failing.failing = call;
        CHECK_THROWS_AS(f.forward(stream, numbers_of_two), std::out_of_range);
        CHECK(cudaPeekAtLastError() == cudaSuccess);
        CHECK(f.size() == 0);
        CHECK(f.captures() == 0);
        CHECK(f.replays() == 0);
        CHECK(is_usable(stream.get()));
    }
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{103});
    CHECK(f.captures() == 1);
}

TEST_CASE("a graphed function whose capture throws half-way is as before", "[capture][graphed]") {
    Failing failing;
    const Stream stream;
    GraphedFunction f(failing.function(), {.warm_up_runs = 1});
    failing.failing = 2;
    CHECK_THROWS_AS(f.forward(stream, numbers_of_two), std::out_of_range);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(f.size() == 0);
    CHECK(is_usable(stream.get()));
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{103});
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 1);
}

TEST_CASE("a shape that fails evicts none", "[capture][graphed]") {
    Failing failing;
    const Stream stream;
    GraphedFunction f(failing.function(), {.warm_up_runs = 0});
    const DeviceSpan<int> output = f.forward(stream, numbers_of_two);
    failing.failing = 2;
    CHECK_THROWS_AS(f.forward(stream, numbers_of_one), std::out_of_range);
    CHECK(f.size() == 1);
    CHECK(f.forward(stream, numbers_of_two).data() == output.data());
    CHECK(read(stream, output) == std::vector{103});
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 2);
}

TEST_CASE("what breaks the capture of a graphed function is named", "[capture][graphed]") {
    Total sums;
    bool breaks = true;
    const Stream stream;
    GraphedFunction f(
        [&, sum = sums.function()](cudaStream_t s, DeviceSpan<const int> in) mutable {
            const DeviceSpan<int> output = sum(s, in);
            if (breaks) cudag::check(cudaStreamSynchronize(s)); // harmless in the warm-up
            return output;
        },
        {.warm_up_runs = 2});
    const auto error = refused<CaptureError>([&] { f.forward(stream, numbers_of_two); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring("graphed_function_errors.cpp") && ContainsSubstring("thread-local") &&
                                 ContainsSubstring("step \"forward(2)\""));
    CHECK(sums.calls == 3);
    CHECK(f.size() == 0);
    CHECK(is_usable(stream.get()));
    breaks = false;
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{3});
}

TEST_CASE("a broken capture is told of a graphed function that ignores what CUDA says", "[capture][graphed]") {
    const auto cell = device({0});
    const Stream stream;
    GraphedFunction f(
        [&](cudaStream_t s) {
            static_cast<void>(cudaStreamQuery(s));
            launch(s, {}, store, cell.data(), 1);
        },
        {.warm_up_runs = 0});
    CHECK_THROWS_AS(f.forward(stream), CaptureError);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(f.size() == 0);
    CHECK(is_usable(stream.get()));
}

TEST_CASE("a graphed function is not replayed into a capture", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    const auto forward_in_capture = [&] {
        const cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
            const auto error = refused<CaptureError>([&] { f.forward(stream, numbers_of_two); });
            CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
            CHECK_THAT(error.what(),
                       ContainsSubstring("GraphedFunction at ") &&
                           ContainsSubstring("forward: the stream is being captured, and replays are not recorded") &&
                           ContainsSubstring("call the function itself there"));
            CHECK(c.status() == cudag::CaptureStatus::active);
            launch(c.stream(), {}, nothing);
        });
        CHECK(graph.node_count() == 1);
    };
    forward_in_capture();
    CHECK(sums.calls == 0);
    f.forward(stream, numbers_of_two);
    forward_in_capture();
    CHECK(f.replays() == 1);
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{3});
}

TEST_CASE("a graphed function refuses inputs that are null", "[capture][graphed]") {
    int calls = 0;
    const Stream stream;
    GraphedFunction f([&](cudaStream_t, DeviceSpan<const int>, DeviceSpan<const int>) { ++calls; });
    const auto error = refused<Error>([&] { f.forward(stream, numbers_of_two, DeviceSpan<int>(nullptr, 3)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("forward: input 1 of 3 elements is null"));
    CHECK_THROWS_AS(f.forward(stream, numbers_of_two, std::shared_ptr<cudag::DeviceBuffer<int>>()), cudag::GraphError);
    CHECK(calls == 0);
    CHECK(f.size() == 0);
}

TEST_CASE("a graphed function keeps at least one shape", "[capture][graphed]") {
    const auto error = refused<cudag::GraphError>([] { GraphedFunction f([](cudaStream_t) {}, {.capacity = 0}); });
    CHECK_THAT(error.what(), ContainsSubstring("GraphedFunction at ") &&
                                 ContainsSubstring("the capacity is 0; at least 1 shape must be kept"));
    CHECK_THAT(refused<cudag::GraphError>([] { GraphedFunction f([](cudaStream_t) {}, {.min_graphs = 0}); }).what(),
               ContainsSubstring("min_graphs is 0; at least 1 shape must be kept"));
}

TEST_CASE("a graphed function that leaves memory allocated needs auto-free", "[capture][graphed]") {
    const auto function = [](cudaStream_t s) {
        int* cell = nullptr;
        cudag::check(cudaMallocAsync(&cell, sizeof(int), s));
        launch(s, {}, store, cell, 4);
        return DeviceSpan<int>(cell, 1);
    };
    const Stream stream;
    GraphedFunction f(function, {.warm_up_runs = 0});
    const DeviceSpan<int> output = f.forward(stream);
    CHECK(read(stream, output) == std::vector{4});
    const auto error = refused<Error>([&] { f.forward(stream); });
    CHECK_THAT(error.what(), ContainsSubstring("is not freed in this graph"));
    CHECK(f.replays() == 1);
    cudag::check(cudaFreeAsync(output.data(), stream.get()));
    stream.synchronize();

    GraphedFunction freeing(function, {.warm_up_runs = 0, .instantiate = {.auto_free_on_launch = true}});
    freeing.forward(stream);
    CHECK(read(stream, freeing.forward(stream)) == std::vector{4});
    cudag::check(cudaFreeAsync(freeing.forward(stream).data(), stream.get()));
    stream.synchronize();
}
