// capture_or_run: what is captured, what runs eagerly instead, and that each runs once.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cuda_version.hpp"
#include "graphed.hpp"

using cudag::capture_or_run;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::launch;
using cudag::Steps;
using cudag::Stream;

namespace {

/// A cell that counts how often the device has counted.
struct Counter {
    DeviceBuffer<int> cell = device({0});
    void count(cudaStream_t stream) const { launch(stream, {}, add, cell.data(), cell.data(), 1); }
    [[nodiscard]] int read_after(cudaStream_t stream) const {
        check(cudaStreamSynchronize(stream));
        return read(cell).front();
    }
};

} // namespace

TEST_CASE("what can be captured is launched once, and its Exec replays it", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    int calls = 0;
    auto ran = capture_or_run(stream, [&](cudaStream_t s) {
        ++calls;
        counter.count(s);
    });
    CHECK(calls == 1);
    CHECK_FALSE(ran.error);
    REQUIRE(ran.exec);
    CHECK(ran.exec->replays() == 1);
    CHECK(counter.read_after(stream.get()) == 1);
    ran.exec->launch(stream);
    CHECK(counter.read_after(stream.get()) == 2);
}

TEST_CASE("what breaks the capture runs eagerly, once on the device, and the step is told", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    int eager = 0, captured = 0;
    const auto ran = capture_or_run(stream, [&](Steps& steps) {
        ++(steps.is_captured() ? captured : eager);
        steps.step("count", [&](cudaStream_t s) { counter.count(s); });
        steps.step("converged?", [&](cudaStream_t s) { check(cudaStreamSynchronize(s)); });
        steps.step("count on", [&] { counter.count(steps.stream()); });
    });
    CHECK(captured == 1);
    CHECK(eager == 1);
    CHECK_FALSE(ran.exec);
    REQUIRE(ran.error);
    CHECK(ran.error->code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(ran.error->labels() == Labels{"converged?"});
    CHECK_THAT(ran.error->what(), ContainsSubstring("capture_or_run.cpp:") && ContainsSubstring("step \"converged?\""));
    CHECK(counter.read_after(stream.get()) == 2);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("work in the legacy stream runs once, in the eager call", "[capture][run][legacy]") {
    const Counter counter, legacy;
    const Stream stream;
    const bool is_checked = GENERATE(false, true), waits_before = GENERATE(false, true),
               waits_after = GENERATE(false, true);
    const auto ran = capture_or_run(stream, [&](Steps& steps) {
        counter.count(steps.stream());
        steps.step("legacy", [&] {
            if (waits_before) static_cast<void>(cudaStreamSynchronize(steps.stream()));
            try {
                legacy.count(cudaStreamLegacy);
            } catch (const cudag::Error&) { // as code that knows nothing of captures may do
                if (is_checked) throw;
            }
        });
        if (waits_after) static_cast<void>(cudaStreamSynchronize(steps.stream()));
    });
    REQUIRE(ran.error);
    CHECK(ran.error->labels() == Labels{"legacy"});
    CHECK(legacy.read_after(cudaStreamLegacy) == 1);
    CHECK(counter.read_after(stream.get()) == 1);
}

TEST_CASE("where the legacy stream is let through, its work runs at the capture", "[capture][run][legacy]") {
    const Counter recorded, escaped;
    const Stream stream;
    const auto ran = capture_or_run(stream,
                                    [&](cudaStream_t s) {
                                        recorded.count(s);
                                        escaped.count(cudaStreamLegacy);
                                    },
                                    {.refuse_legacy_stream = false});
    CHECK(ran.exec);
    CHECK(escaped.read_after(cudaStreamLegacy) == 1);
    CHECK(recorded.read_after(stream.get()) == 1);
}

TEST_CASE("a function that recorded nothing is not called again: it has done what it does", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    const Stream elsewhere;
    int calls = 0;
    const auto ran = capture_or_run(stream, [&](cudaStream_t) {
        ++calls;
        const cudag::ThreadCaptureMode allow(cudag::CaptureMode::relaxed);
        counter.count(elsewhere.get());
        return calls;
    });
    CHECK(ran.output == 1);
    REQUIRE(ran.error);
    CHECK_THAT(ran.error->what(), ContainsSubstring("nothing was recorded"));
    CHECK(counter.read_after(elsewhere.get()) == 1);
    CHECK(is_usable(stream));
}

TEST_CASE("forks that are not joined, and errors that nobody has read, make it run eagerly", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    const Stream side;
    SECTION("a fork") {
        const auto ran = capture_or_run(stream, [&](Steps& steps) {
            steps.fork(side);
            counter.count(side.get());
        });
        REQUIRE(ran.error);
        CHECK(ran.error->code() == cuda_code(cudaErrorStreamCaptureUnjoined));
        CHECK(counter.read_after(side.get()) == 1);
    }
    SECTION("an error") {
        const auto ran = capture_or_run(stream, [&](Steps& steps) {
            steps.step("copy", [&](cudaStream_t s) {
                counter.count(s);
                static_cast<void>(cudaMemcpyAsync(nullptr, counter.cell.data(), 4, cudaMemcpyDeviceToDevice, s));
            });
        });
        REQUIRE(ran.error);
        CHECK(ran.error->labels() == Labels{"copy"});
        CHECK_THAT(ran.error->what(), ContainsSubstring("its error was not read"));
        CHECK(counter.read_after(stream.get()) == 1);
        static_cast<void>(cudaGetLastError()); // of the eager call
    }
}

TEST_CASE("forks and joins of the steps order the work, captured or not", "[capture][run]") {
    const auto cells = device({0, 0});
    const Stream stream;
    const Stream side;
    const bool breaks = GENERATE(false, true);
    const auto ran = capture_or_run(stream, [&](Steps& steps) {
        launch(steps.stream(), {}, store, cells.data(), 4);
        steps.fork(side);
        launch(side, {}, add, cells.data() + 1, cells.data(), 1);
        steps.join(side);
        launch(steps.stream(), {}, add, cells.data(), cells.data() + 1, 1);
        if (breaks) check(cudaStreamSynchronize(steps.stream()));
    });
    CHECK(ran.error.has_value() == breaks);
    CHECK(read(stream, cells.span()) == std::vector{6, 5});
}

TEST_CASE("what is forked or joined eagerly waits", "[capture][run]") {
    const Stream stream;
    const Stream side;
    Gate gate;
    const bool forks = GENERATE(false, true);
    const auto ran = capture_or_run(stream, [&](Steps& steps) {
        static_cast<void>(cudaStreamSynchronize(steps.stream())); // breaks the capture
        static_cast<void>(cudaGetLastError());
        if (steps.is_captured()) return;
        hold_up(forks ? steps.stream() : side.get(), gate);
        if (forks)
            steps.fork(side);
        else
            steps.join(side);
    });
    CHECK(ran.error);
    gate.wait_until_entered();
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // for what does not wait
    CHECK_FALSE((forks ? side : stream).query());
    gate.open();
    side.synchronize();
    stream.synchronize();
}

TEST_CASE("what the function throws passes through, unless the capture was broken by then", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    int calls = 0;
    SECTION("its own") {
        CHECK_THROWS_AS(capture_or_run(stream,
                                       [&](cudaStream_t s) {
                                           ++calls;
                                           counter.count(s);
                                           throw std::out_of_range("its own");
                                       }),
                        std::out_of_range);
        CHECK(calls == 1);
        CHECK(counter.read_after(stream.get()) == 0);
    }
    SECTION("an error of CUDA that has nothing to do with captures") {
        CHECK_THROWS_AS(capture_or_run(stream,
                                       [&](cudaStream_t s) {
                                           ++calls;
                                           counter.count(s);
                                           check(cudaErrorInvalidValue);
                                       }),
                        cudag::Error);
        CHECK(calls == 1);
        CHECK(counter.read_after(stream.get()) == 0);
    }
    SECTION("its own about a graph") {
        CHECK_THROWS_AS(capture_or_run(stream,
                                       [&](cudaStream_t s) {
                                           ++calls;
                                           counter.count(s);
                                           throw cudag::InstantiateError(cudaErrorNotSupported, "its own");
                                       }),
                        cudag::InstantiateError);
        CHECK(calls == 1);
        CHECK(counter.read_after(stream.get()) == 0);
    }
    SECTION("what other libraries make of a broken capture") {
        const auto ran = capture_or_run(stream, [&](cudaStream_t s) {
            ++calls;
            counter.count(s);
            if (cudaStreamSynchronize(s) != cudaSuccess) throw std::runtime_error("cuda error");
        });
        REQUIRE(ran.error);
        CHECK(ran.error->code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK(calls == 2);
        CHECK(counter.read_after(stream.get()) == 1);
    }
    SECTION("its own, in the eager call") {
        CHECK_THROWS_AS(capture_or_run(stream,
                                       [&](cudaStream_t s) {
                                           ++calls;
                                           static_cast<void>(cudaStreamSynchronize(s));
                                           throw std::out_of_range("its own");
                                       }),
                        std::out_of_range);
        CHECK(calls == 2);
    }
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(is_usable(stream));
}

TEST_CASE("what the function returns is that of the call whose work has run", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    for (const bool breaks : {false, true}) {
        int calls = 0;
        const auto ran = capture_or_run(stream, [&](cudaStream_t s) {
            counter.count(s);
            if (breaks) static_cast<void>(cudaStreamSynchronize(s));
            return std::make_unique<int>(++calls);
        });
        CHECK(ran.exec.has_value() == !breaks);
        CHECK(*ran.output == (breaks ? 2 : 1));
    }
    CHECK(counter.read_after(stream.get()) == 2);
}

TEST_CASE("the legacy default stream cannot be captured, so it runs eagerly there", "[capture][run][legacy]") {
    const Counter counter;
    const auto ran = capture_or_run(cudaStreamLegacy, [&](cudaStream_t s) { counter.count(s); });
    REQUIRE(ran.error);
    CHECK_THAT(ran.error->what(), ContainsSubstring("the legacy default stream cannot be captured"));
    CHECK(counter.read_after(cudaStreamLegacy) == 1);
}

TEST_CASE("in a stream that is being captured the function becomes part of that capture", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    const cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        const auto ran = capture_or_run(s, [&](cudaStream_t inner) { counter.count(inner); });
        CHECK_FALSE(ran.exec);
        REQUIRE(ran.error);
        CHECK_THAT(ran.error->what(), ContainsSubstring("the stream is being captured already"));
    });
    CHECK(graph.node_count() == 1);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(counter.read_after(stream.get()) == 1);
}

TEST_CASE("what cannot be instantiated runs eagerly, too", "[capture][run]") {
    const auto cell = device({0});
    const Stream stream;
    std::vector<int> pageable(1, 5);
    const auto ran = capture_or_run(
        stream, [&](cudaStream_t s) { check(cudaMemcpyAsync(cell.data(), pageable.data(), 4, cudaMemcpyDefault, s)); },
        {.instantiate = {.device_launch = true}}); // takes no such copy
    CHECK_FALSE(ran.exec);
    CHECK(ran.error);
    CHECK(read(stream, cell.span()) == std::vector{5});
}

TEST_CASE("a wait for the device on another thread makes it run eagerly", "[capture][run]") {
    const Counter counter;
    const Stream stream;
    const auto ran = capture_or_run(stream,
                                    [&](cudaStream_t s) {
                                        counter.count(s);
                                        std::thread([] {
                                            static_cast<void>(cudaDeviceSynchronize());
                                            static_cast<void>(cudaGetLastError());
                                        }).join();
                                    },
                                    {.mode = cudag::CaptureMode::relaxed});
    REQUIRE(ran.error);
    CHECK_THAT(ran.error->what(), ContainsSubstring("in every mode"));
    CHECK(counter.read_after(stream.get()) == 1);
}
