// Calls that fail in a capture, and whose error nobody reads; work that goes elsewhere. None of it is lost in silence.
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_version.hpp"
#include "graphed.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureOptions;
using cudag::CaptureStatus;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// What <<<grid, block, shared_bytes, stream>>> does, of which nobody sees what it returns.
void launch_raw(cudaStream_t stream, dim3 grid, dim3 block, std::size_t shared_bytes, int* cell) {
    int value = 1;
    std::array<void*, 2> arguments{&cell, &value};
    static_cast<void>(
        cudaLaunchKernel(cudag::detail::kernel_symbol(store), grid, block, arguments.data(), shared_bytes, stream));
}

/// A launch that no device can run.
struct Misfit {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes;
    std::string reason; ///< of CUDA's log
};

Misfit misfit() {
    return GENERATE(
        Misfit{1, 2048, 0, "One or more of block dimensions of (2048,1,1) exceeds"},
        Misfit{0, 1, 0, "Grid Dimension X must be nonzero"},
        Misfit{1, 1, std::size_t{1} << 20, "Requested dynamic shared memory size of 1048576 bytes exceeds maximum"});
}

/// Fails, leaves the capture as it is, and sets the last error.
void copy_to_null(cudaStream_t stream, const int* from) {
    static_cast<void>(cudaMemcpyAsync(nullptr, from, sizeof(int), cudaMemcpyDeviceToDevice, stream));
}

void ordinary_function(int*, int) {}

/// As `refused`, but the last error may be set before.
template <class E, class Call>
E refused_though_unread(Call&& call) {
    std::optional<E> caught;
    try {
        std::forward<Call>(call)();
    } catch (const E& error) {
        caught = error;
    }
    REQUIRE(caught);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    return *caught;
}

std::string copy_is_unread() {
    return (has_log() ? "cuMemcpyDtoDAsync_v2" : "a call") +
           std::string(" failed, and its error was not read: invalid argument (cudaErrorInvalidValue)");
}
std::string broken_by_launch() {
    return broken_by("cuLaunchKernel") + logged(": ") + "invalid argument";
}

} // namespace

TEST_CASE("a raw launch that breaks a capture in a step is told with CUDA's reason and the step",
          "[capture][errors][unread]") {
    const Misfit kernel = misfit();
    const auto mode = GENERATE(CaptureMode::thread_local_, CaptureMode::relaxed, CaptureMode::global);
    const Stream stream;
    const auto cell = device({0});
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream,
                                  [&](StreamCapture& c) {
                                      c.step("fine", [&](cudaStream_t s) { launch(s, {}, store, cell, 1); });
                                      line = __LINE__ + 1;
                                      c.step("launches", [&](cudaStream_t s) {
                                          launch_raw(s, kernel.grid, kernel.block, kernel.shared_bytes, cell.data());
                                      });
                                      FAIL("the step before has failed");
                                  },
                                  {.mode = mode}));
    });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation() == logged("cuLaunchKernel"));
    CHECK(error.labels() == Labels{"launches"});
    CHECK(error.location().line == line);
    CHECK_THAT(error.log(), ContainsSubstring(logged(kernel.reason)));
    CHECK_THAT(error.what(), ContainsSubstring("step \"launches\" at ") && ContainsSubstring(broken_by_launch()) &&
                                 ContainsSubstring(logged("CUDA's log: " + kernel.reason)) &&
                                 !ContainsSubstring("record it in steps"));
    CHECK_THAT(error.what(), ContainsSubstring(has_log() ? "launch with cudag::launch, which names the kernel"
                                                         : "a call of this step broke it"));
    CHECK(is_usable(stream));
}

TEST_CASE("a raw launch that breaks a capture without steps is told at the end", "[capture][errors][unread]") {
    const Misfit kernel = misfit();
    const Stream stream;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](cudaStream_t s) {
            launch_raw(s, kernel.grid, kernel.block, kernel.shared_bytes, cell.data());
            launch_raw(s, 1, 1, 0, cell.data()); // fails, too, as the capture is broken
        }));
    });
    if (!has_log()) return; // the last error is that of the second launch
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("finish: ") && ContainsSubstring(broken_by_launch()) &&
                                 ContainsSubstring(logged("CUDA's log: " + kernel.reason)));
    CHECK(is_usable(stream));
}

TEST_CASE("a raw launch that breaks a region leaves the builder as it was", "[capture][region][errors][unread]") {
    const Misfit kernel = misfit();
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell, 3);
    const auto error = refused<CaptureError>([&] {
        b.capture(stream, [&](StreamCapture& c) {
            c.step("launches",
                   [&](cudaStream_t s) { launch_raw(s, kernel.grid, kernel.block, kernel.shared_bytes, cell.data()); });
        });
    });
    CHECK(error.labels() == Labels{"launches"});
    CHECK_THAT(error.what(),
               ContainsSubstring(broken_by_launch()) && ContainsSubstring(logged("CUDA's log: " + kernel.reason)));
    b.kernel({}, add, cell, cell, 4).after(before);
    run(std::move(b));
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("an error that a step leaves unread is told with the step, and the capture stands",
          "[capture][errors][unread]") {
    const auto mode = GENERATE(CaptureMode::thread_local_, CaptureMode::relaxed, CaptureMode::global);
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream, {.mode = mode});
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        line = __LINE__ + 1;
        capture.step("copies", [&](cudaStream_t s) {
            copy_to_null(s, cell.data());
            launch(s, {}, store, cell, 5);
        });
    });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation() == logged("cuMemcpyDtoDAsync_v2"));
    CHECK(error.labels() == Labels{"copies"});
    CHECK(error.location().line == line);
    CHECK_THAT(error.what(), ContainsSubstring("step \"copies\" at ") && ContainsSubstring(copy_is_unread()) &&
                                 ContainsSubstring(logged("CUDA's log: Null address specified")) &&
                                 ContainsSubstring("wrap each call in cudag::check"));
    CHECK(capture.status() == CaptureStatus::active);
    capture.step("fine", [](cudaStream_t s) { launch(s, {}, nothing); });
    CHECK(std::move(capture).finish().node_count() == 2);
}

TEST_CASE("a raw launch of what is no kernel is told with the step", "[capture][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream);
    cudaError_t code = cudaSuccess;
    const auto error = refused<CaptureError>([&] {
        capture.step("unknown", [&](cudaStream_t s) {
            int* address = cell.data();
            int value = 1;
            std::array<void*, 2> arguments{&address, &value};
            code = cudaLaunchKernel(reinterpret_cast<const void*>(&ordinary_function), 1, 1, arguments.data(), 0, s);
        });
    });
    CHECK(code != cudaSuccess);
    CHECK(error.code() == cuda_code(code));
    CHECK(error.labels() == Labels{"unknown"});
    CHECK_THAT(error.what(),
               ContainsSubstring(" failed, and its error was not read: ") && ContainsSubstring(cudaGetErrorName(code)));
    CHECK(capture.status() == CaptureStatus::active);
}

TEST_CASE("an error that was left unread outside of steps is told by the next step, mark or finish",
          "[capture][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream);
    launch(stream, {}, store, cell, 1);
    copy_to_null(stream.get(), cell.data());
    const auto step = refused_though_unread<CaptureError>([&] { capture.step("next", [] {}); });
    CHECK_THAT(step.what(), ContainsSubstring("step \"next\" at ") && ContainsSubstring("before this step, ") &&
                                ContainsSubstring(copy_is_unread()));
    copy_to_null(stream.get(), cell.data());
    const auto mark = refused_though_unread<CaptureError>([&] { capture.mark("here"); });
    CHECK_THAT(mark.what(), ContainsSubstring("mark \"here\" at ") && ContainsSubstring(copy_is_unread()));
    copy_to_null(stream.get(), cell.data());
    const auto finish = refused_though_unread<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK_THAT(finish.what(), ContainsSubstring("finish: ") && ContainsSubstring(copy_is_unread()));
    CHECK(capture.status() == CaptureStatus::none);
    CHECK(is_usable(stream));
}

TEST_CASE("an error that was left unread in a capture is told where nodes are written into it",
          "[capture][errors][unread][add]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture c(stream);
    launch(stream, {}, store, cell, 1);
    copy_to_null(stream.get(), cell.data());
    const auto error = refused_though_unread<CaptureError>([&] { c.kernel({}, store, cell.data(), 2); });
    CHECK_THAT(error.what(), ContainsSubstring("before these nodes, ") && ContainsSubstring(copy_is_unread()));
    c.kernel({}, store, cell.data(), 2);
    CHECK(std::move(c).finish().node_count() == 2);
}

TEST_CASE("what another thread does in a capture hides no error that was left unread",
          "[capture][errors][unread][threads]") {
    const Stream stream;
    const Stream side;
    const auto cell = device({0});
    StreamCapture capture(stream);
    launch(stream, {}, store, cell, 1);
    copy_to_null(stream.get(), cell.data());
    std::thread([&] { capture.fork(side); }).join();
    const auto step = refused_though_unread<CaptureError>([&] { capture.step("next", [] {}); });
    CHECK_THAT(step.what(), ContainsSubstring(copy_is_unread()));
}

TEST_CASE("an error that was left unread between forks is told by the step around them", "[capture][errors][unread]") {
    const Stream stream;
    const Stream side;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("forks", [&](cudaStream_t s) {
                copy_to_null(s, cell.data());
                c.fork(side);
                launch(side, {}, store, cell, 1);
                c.join(side);
            });
        }));
    });
    CHECK(error.labels() == Labels{"forks"});
    CHECK_THAT(error.what(), ContainsSubstring(logged("CUDA's log: Null address specified")));
    CHECK(is_usable(side));
}

TEST_CASE("an error that a region leaves unread is told, and leaves the builder as it was",
          "[capture][region][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell, 3);
    const auto error = refused<CaptureError>([&] {
        b.capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cell, 9);
            copy_to_null(s, cell.data());
        });
    });
    CHECK_THAT(error.what(),
               ContainsSubstring("finish: ") && ContainsSubstring(copy_is_unread()) && !ContainsSubstring("lost"));
    b.capture(stream, [&](cudaStream_t s) { launch(s, {}, add, cell, cell, 4); }).after(before);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("an error that the captured code reads is its own affair", "[capture][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("tries", [&](cudaStream_t s) {
            copy_to_null(s, cell.data());
            CHECK(cudaGetLastError() == cudaErrorInvalidValue);
            launch(s, {}, store, cell, 1);
        });
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("an error from before a capture is not told as the capture's", "[capture][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    copy_to_null(stream.get(), cell.data());
    StreamCapture capture(stream);
    capture.step("fine", [&](cudaStream_t s) { launch(s, {}, store, cell, 1); });
    capture.mark("nothing");
    SECTION("and stays what it is") {
        CHECK(std::move(capture).finish().node_count() == 1);
        CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    }
    SECTION("but one of the same code in a step is the step's") {
        if (!has_log()) return; // nothing else tells the two apart
        const auto error = refused_though_unread<CaptureError>(
            [&] { capture.step("copies", [&](cudaStream_t s) { copy_to_null(s, cell.data()); }); });
        CHECK(error.labels() == Labels{"copies"});
    }
    SECTION("and what breaks the capture later is not taken for it") {
        const auto error = refused_though_unread<CaptureError>(
            [&] { capture.step("waits", [](cudaStream_t s) { static_cast<void>(cudaStreamSynchronize(s)); }); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    }
}

TEST_CASE("the last error of another thread than the capturing one does not matter", "[capture][errors][unread]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream, {.mode = CaptureMode::relaxed});
    launch(stream, {}, store, cell, 1);
    std::thread([&] {
        static_cast<void>(cudaSetDevice(-1));
        CHECK(std::move(capture).finish().node_count() == 1);
        CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
    }).join();
}

TEST_CASE("a capture that recorded nothing is refused, and says where its work may have gone",
          "[capture][errors][empty]") {
    const auto cells = device({1, 2});
    const Stream stream;
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            const auto copy = [&](int* to, const int* from) {
                check(cudaMemcpy(to, from, sizeof(int), cudaMemcpyDefault));
            };
            const int five = 5;
            line = __LINE__ + 1;
            c.step("copy", [&] { copy(cells.data(), cells.data() + 1); }, {.allow_empty = true});
            c.step("set", [&] { copy(cells.data() + 1, &five); }, {.allow_empty = true});
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("finish: nothing was recorded by the steps \"copy\" at ") &&
                                 ContainsSubstring("capture_unread.cpp:" + std::to_string(line) + ", \"set\" at ") &&
                                 ContainsSubstring("goes into the legacy default stream and runs at once") &&
                                 ContainsSubstring("Give each call the stream") &&
                                 ContainsSubstring(".allow_empty = true"));
    CHECK(is_usable(stream));
    check(cudaStreamSynchronize(cudaStreamLegacy));
    CHECK(read(cells) == std::vector{2, 5}); // it ran at once
}

TEST_CASE("of many steps that recorded nothing ten are named", "[capture][errors][empty]") {
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            for (int i = 0; i < 13; ++i)
                c.step(std::to_string(i), [] {}, {.allow_empty = true});
        }));
    });
    CHECK_THAT(error.what(),
               ContainsSubstring("\"9\" at ") && !ContainsSubstring("\"10\" at ") && ContainsSubstring(", and 3 more"));
}

TEST_CASE("a step that may record nothing names no node", "[capture][empty]") {
    const Stream stream;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("nothing", [] {}, {.allow_empty = true});
        c.step("something", [](cudaStream_t s) { launch(s, {}, nothing); });
    });
    CHECK(graph.node_count() == 1);
    CHECK(graph.find("nothing").empty());
}

TEST_CASE("a capture that may be empty is a graph without nodes", "[capture][empty]") {
    const Stream stream;
    const Graph graph = capture(stream, [](cudaStream_t) {}, {.allow_empty = true});
    CHECK(graph.node_count() == 0);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
}

TEST_CASE("a region that recorded nothing is refused, and the builder is as it was", "[capture][region][empty]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    const auto before = b.kernel({}, store, cell, 1);
    const auto error = refused<CaptureError>(
        [&] { b.capture(stream, [](StreamCapture& c) { c.step("nothing", [] {}, {.allow_empty = true}); }); });
    CHECK_THAT(error.what(), ContainsSubstring("nothing was recorded by the steps \"nothing\" at ") &&
                                 ContainsSubstring(".allow_empty = true"));
    b.kernel({}, add, cell, cell, 1).after(before);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("a region in a body that recorded nothing is refused, unless it may be empty", "[capture][region][empty]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    b.if_(b.condition(1), [&](GraphBuilder& body) {
        refused<CaptureError>([&] { body.capture(stream, [](cudaStream_t) {}); });
        const auto region = body.capture(stream, [](cudaStream_t) {}, {.allow_empty = true});
        CHECK(region.nodes()[0].kind() == NodeKind::empty);
        body.kernel({}, store, cell, 6).after(region);
    });
    run(std::move(b));
    CHECK(read(cell) == std::vector{6});
}

TEST_CASE("a graphed function that enqueues nothing is refused, unless it may", "[capture][graphed][empty]") {
    const auto identity = [](cudaStream_t, DeviceSpan<int> in) { return in; };
    const Stream stream;
    GraphedFunction strict(identity);
    const auto error = refused<CaptureError>([&] { strict.forward(stream, numbers_of_two); });
    CHECK_THAT(error.what(), ContainsSubstring("nothing was recorded by the steps \"forward(2)\" at ") &&
                                 ContainsSubstring(".allow_empty = true"));
    CHECK(strict.size() == 0);
    GraphedFunction lenient(identity, {.capture = {.allow_empty = true}});
    CHECK(read(stream, lenient.forward(stream, numbers_of_two)) == numbers_of_two);
}

TEST_CASE("a graphed function may enqueue nothing for inputs that are empty", "[capture][graphed][empty]") {
    const auto cell = device({0});
    const Stream stream;
    GraphedFunction f([&](cudaStream_t s, DeviceSpan<const int> in) {
        if (!in.empty()) launch(s, {}, sum, cell, in);
        return cell.span();
    });
    CHECK(read(stream, f.forward(stream, DeviceSpan<int>())) == std::vector{0});
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{3});
}

TEST_CASE("a graphed function tells the errors that its function leaves unread", "[capture][graphed][unread]") {
    const auto cell = device({0});
    const Stream stream;
    GraphedFunction f(
        [&](cudaStream_t s) {
            copy_to_null(s, cell.data());
            launch(s, {}, store, cell, 1);
        },
        {.warm_up_runs = 0});
    const auto error = refused<CaptureError>([&] { f.forward(stream); });
    CHECK_THAT(error.what(), ContainsSubstring("step \"forward()\" at ") && ContainsSubstring(copy_is_unread()));
    CHECK(f.size() == 0);
}
