// What breaks a capture, and how it is told: each of CUDA's errors 900 to 908, provoked.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::check;
using cudag::Event;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;
using cudag::ThreadCaptureMode;

namespace {

struct Blocking {
    Blocking() { check(cudaStreamCreate(&stream)); }
    ~Blocking() { cudaStreamDestroy(stream); }
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;
    cudaStream_t stream = nullptr;
};

/// Whether `stream` can be captured, and runs what was captured.
bool can_be_captured(cudaStream_t stream) {
    const auto cell = device({0});
    cudag::Exec exec = capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 5); }).instantiate();
    exec.launch(stream);
    check(cudaStreamSynchronize(stream));
    return read(cell) == std::vector{5};
}

void allocate_and_forget() {
    void* memory = nullptr;
    static_cast<void>(cudaMalloc(&memory, 16));
}

} // namespace

TEST_CASE("900: a forbidden call that nobody checks is named at the end, with CUDA's log and a hint",
          "[capture][errors]") {
    const Stream stream;
    const auto error =
        refused<CaptureError>([&] { static_cast<void>(capture(stream, [](cudaStream_t) { allocate_and_forget(); })); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring("capture at ") && ContainsSubstring("capture_errors.cpp:") &&
                                 ContainsSubstring("(thread-local)") &&
                                 ContainsSubstring("finish: " + broken_by("cuMemAlloc_v2")) &&
                                 ContainsSubstring("calls that are not recorded, such as cudaMalloc, are forbidden"));
    CHECK(error.log().empty() == !has_log());
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("900: the first step that breaks the capture is named with its location, and its cause",
          "[capture][errors]") {
    const Stream stream;
    const auto cell = device({0});
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("fine", [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
            line = __LINE__ + 1;
            c.step("hidden allocation", [] { allocate_and_forget(); });
            FAIL("the step before has failed");
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.labels() == Labels{"hidden allocation"});
    CHECK(error.location().line == line);
    CHECK_THAT(error.what(),
               ContainsSubstring("step \"hidden allocation\" at ") && ContainsSubstring(broken_by("cuMemAlloc_v2")));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("900: a step that throws CUDA's own error is named too", "[capture][errors]") {
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("waits", [](cudaStream_t s) { check(cudaStreamSynchronize(s)); });
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.labels() == Labels{"waits"});
    CHECK_THAT(error.what(), ContainsSubstring("step \"waits\" at ") && ContainsSubstring("cannot be waited for"));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("900: the legacy default stream is refused by name", "[capture][errors]") {
    for (const cudaStream_t legacy : {cudaStream_t{}, cudaStreamLegacy}) {
        const auto error = refused<CaptureError>([&] { const StreamCapture refused(legacy); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(),
                   ContainsSubstring("begin: the legacy default stream cannot be captured: use a cudag::Stream"));
    }
}

TEST_CASE("901: work after a breaking call fails as invalidated, the report names the breaking call",
          "[capture][errors]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream);
    allocate_and_forget();
    static_cast<void>(cudaGetLastError());
    CHECK(capture.status() == CaptureStatus::invalidated);
    const auto later = refused<CaptureError>([&] { launch(stream, {}, store, cell.data(), 1); });
    CHECK(later.code() == cuda_code(cudaErrorStreamCaptureInvalidated));
    CHECK_THAT(later.what(), ContainsSubstring("an earlier call broke this capture: record it in steps"));
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuMemAlloc_v2")));
    CHECK(capture.status() == CaptureStatus::none);
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("902: an event that would merge two captures", "[capture][errors]") {
    const Stream first;
    const Stream second;
    const Event event({.timing = false});
    {
        const StreamCapture one(first);
        const StreamCapture other(second);
        check(cudaEventRecord(event.get(), first.get()));
        const auto error = refused<CaptureError>([&] { check(cudaStreamWaitEvent(second.get(), event.get())); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureMerge));
        CHECK_THAT(error.what(), ContainsSubstring("joined two captures"));
    }
    CHECK(can_be_captured(first.get()));
    CHECK(can_be_captured(second.get()));
}

TEST_CASE("903: a capture that is ended in a stream that forked from it", "[capture][errors]") {
    const Stream stream;
    const Stream side;
    StreamCapture capture(stream);
    capture.fork(side);
    cudaGraph_t graph = nullptr;
    const auto inside = refused<CaptureError>([&] { check(cudaStreamEndCapture(side.get(), &graph)); });
    CHECK(inside.code() == cuda_code(cudaErrorStreamCaptureUnmatched));
    CHECK_THAT(inside.what(), ContainsSubstring("the capture began in another stream"));
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureUnmatched));
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuStreamEndCapture")));
    CHECK(can_be_captured(stream.get()));
    CHECK(can_be_captured(side.get()));
}

TEST_CASE("904: forks that are not joined are named by where they were forked", "[capture][errors]") {
    const Stream stream;
    const Stream joined;
    const Stream side;
    const auto cell = device({0});
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.fork(joined);
            line = __LINE__ + 1;
            c.fork(side);
            launch(side, {}, store, cell.data(), 1);
            c.join(joined);
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    CHECK_THAT(error.what(), ContainsSubstring("work forked at ") &&
                                 ContainsSubstring("capture_errors.cpp:" + std::to_string(line) + " is not joined"));
    CHECK(error.log().empty() == !has_log());
    CHECK(can_be_captured(stream.get()));
    CHECK(can_be_captured(side.get()));
}

TEST_CASE("904: a fork that records more after its join is told", "[capture][errors]") {
    const Stream stream;
    const Stream side;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.fork(side);
            c.join(side);
            launch(side, {}, store, cell.data(), 1);
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnjoined));
    CHECK_THAT(error.what(), ContainsSubstring("a stream has recorded more since it was joined"));
    CHECK(can_be_captured(side.get()));
}

TEST_CASE("905: waiting for work outside the capture", "[capture][errors]") {
    const Stream stream;
    const Stream outside;
    Event event({.timing = false});
    event.record(outside);
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("wait", [&](cudaStream_t s) { check(cudaStreamWaitEvent(s, event.get())); });
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureIsolation));
    CHECK_THAT(error.what(), ContainsSubstring("work outside the capture"));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("906: the legacy default stream while a blocking stream is captured", "[capture][errors]") {
    const Blocking blocking;
    const auto cell = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(blocking.stream, [&](StreamCapture& c) {
            c.step("default stream", [&] { check(cudaMemset(cell.data(), 0, sizeof(int))); });
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    CHECK_THAT(error.what(), ContainsSubstring("the legacy default stream waits for every blocking stream"));
    CHECK(can_be_captured(blocking.stream));
}

TEST_CASE("907: asking an event that was recorded in a capture", "[capture][errors]") {
    const Stream stream;
    const Event event({.timing = false});
    {
        const StreamCapture capture(stream, {.mode = CaptureMode::relaxed});
        check(cudaEventRecord(event.get(), stream.get()));
        const auto error = refused<CaptureError>([&] { event.synchronize(); });
        CHECK(error.code() == cuda_code(cudaErrorCapturedEvent));
        CHECK_THAT(error.what(), ContainsSubstring("the event was last recorded in a capture"));
    }
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("908: finish on another thread is refused, and the capture goes on", "[capture][errors]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream);
    launch(stream, {}, store, cell.data(), 1);
    std::thread([&] {
        const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureWrongThread));
    }).join();
    CHECK(std::move(capture).finish().node_count() == 1);
}

TEST_CASE("a relaxed capture finishes on any thread", "[capture][errors]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture capture(stream, {.mode = CaptureMode::relaxed});
    launch(stream, {}, store, cell.data(), 1);
    std::thread([&] { CHECK(std::move(capture).finish().node_count() == 1); }).join();
}

TEST_CASE("a capture that the captured code ends itself", "[capture][errors]") {
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [](cudaStream_t s) {
            cudaGraph_t graph = nullptr;
            check(cudaStreamEndCapture(s, &graph));
            check(cudaGraphDestroy(graph));
        }));
    });
    CHECK(error.code() == cuda_code(cudaErrorIllegalState));
    CHECK_THAT(error.what(), ContainsSubstring("something other than its StreamCapture called cudaStreamEndCapture"));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("a stream that is captured already is refused, and its capture goes on", "[capture][errors]") {
    const Stream stream;
    StreamCapture first(stream);
    launch(stream, {}, nothing);
    const auto error = refused<CaptureError>([&] { const StreamCapture second(stream); });
    CHECK(error.code() == cuda_code(cudaErrorIllegalState));
    CHECK_THAT(error.what(), ContainsSubstring("the stream is being captured already"));
    CHECK(std::move(first).finish().node_count() == 1);
}

TEST_CASE("a relaxed capture allows what others forbid", "[capture][errors]") {
    const Stream stream;
    const Graph graph = capture(stream,
                                [](cudaStream_t s) {
                                    const cudag::DeviceBuffer<int> allowed(4);
                                    launch(s, {}, nothing);
                                },
                                {.mode = CaptureMode::relaxed});
    CHECK(graph.node_count() == 1);
}

TEST_CASE("a thread in relaxed mode may do what its capture forbids", "[capture][errors]") {
    const Stream stream;
    const Graph graph = capture(stream, [](cudaStream_t s) {
        const ThreadCaptureMode relaxed(CaptureMode::relaxed);
        const cudag::DeviceBuffer<int> allowed(4);
        launch(s, {}, nothing);
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("a thread's capture mode comes back when the guard goes", "[capture][errors]") {
    const Stream stream;
    { const ThreadCaptureMode relaxed(CaptureMode::relaxed); }
    const auto error =
        refused<CaptureError>([&] { static_cast<void>(capture(stream, [](cudaStream_t) { allocate_and_forget(); })); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
}

TEST_CASE("by default a capture does not mind what other threads do", "[capture][errors]") {
    const Stream stream;
    const Graph graph = capture(stream, [](cudaStream_t s) {
        std::thread(allocate_and_forget).join();
        launch(s, {}, nothing);
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("what another thread breaks in a global capture is told as another thread's call", "[capture][errors]") {
    const Stream stream;
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [](cudaStream_t) { std::thread(allocate_and_forget).join(); },
                                  {.mode = CaptureMode::global}));
    });
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring("(global)") &&
                                 ContainsSubstring(broken_by("cuMemAlloc_v2") + logged(", called on another thread")));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("a failure that a step has dealt with is not told as what broke the capture later", "[capture][errors]") {
    const Stream stream;
    const Stream other;
    StreamCapture capture(stream);
    const auto try_it = [&] {
        void* no_arguments[] = {nullptr};
        const void* const kernel = cudag::detail::kernel_symbol(nothing);
        CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(4096), no_arguments, 0, other.get()) != cudaSuccess);
        CHECK(cudaGetLastError() != cudaSuccess);
    };
    capture.step("tries", try_it, {.allow_empty = true});
    CHECK(capture.status() == CaptureStatus::active);
    const auto error = refused<CaptureError>([&] { capture.step("allocates", [] { allocate_and_forget(); }); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.labels() == Labels{"allocates"});
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuMemAlloc_v2")));
}

TEST_CASE("a failure that broke nothing is not told as what broke the capture after it", "[capture][errors]") {
    const Stream stream;
    StreamCapture capture(stream);
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99) != cudaSuccess);
    allocate_and_forget();
    static_cast<void>(cudaGetLastError());
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK(error.code() == code_of_broken(cudaErrorStreamCaptureUnsupported));
    CHECK_THAT(error.what(), ContainsSubstring(broken_by("cuMemAlloc_v2")));
}

TEST_CASE("a launch that the capture refuses is told with what to do about the refusal", "[capture][errors][legacy]") {
    const Blocking blocking;
    StreamCapture capture(blocking.stream);
    void* no_arguments[] = {nullptr};
    const void* const kernel = cudag::detail::kernel_symbol(nothing);
    CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(1), no_arguments, 0, nullptr) == cudaErrorStreamCaptureImplicit);
    static_cast<void>(cudaGetLastError());
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    if (!has_log()) return;
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    CHECK_THAT(error.what(), ContainsSubstring("the legacy default stream waits for every blocking stream") &&
                                 !ContainsSubstring("launch with cudag::launch"));
}

TEST_CASE("an unread error is told with this thread's call, whatever fails on another one since", "[capture][errors]") {
    const Stream stream;
    const Stream other;
    const auto cell = device({0});
    StreamCapture capture(stream);
    launch(stream, {}, store, cell.data(), 1);
    CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
    std::thread([] {
        int value = 0;
        CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99) == cudaErrorInvalidDevice);
    }).join();
    std::string text, operation;
    try {
        capture.step("next", [] {});
    } catch (const CaptureError& error) {
        text = error.what();
        operation = error.operation();
    }
    CHECK_THAT(text, ContainsSubstring("its error was not read"));
    CHECK_THAT(operation, !ContainsSubstring("Attribute"));
    CHECK(std::move(capture).finish().node_count() == 1);
}

TEST_CASE("a capture that somebody else has ended says so, and once finished that it has ended", "[capture][errors]") {
    const Stream stream;
    StreamCapture capture(stream);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph));
    check(cudaGraphDestroy(graph));
    const auto finish = [&] { static_cast<void>(std::move(capture).finish()); };
    const auto says_elsewhere = ContainsSubstring("something other than its StreamCapture called cudaStreamEndCapture");
    CHECK_THAT(refused<CaptureError>(finish).what(), says_elsewhere);
    CHECK_THAT(refused<CaptureError>([&] { capture.mark("x"); }).what(), says_elsewhere);
    CHECK_THAT(refused<CaptureError>(finish).what(), ContainsSubstring("finish() is called once"));
    CHECK(capture.status() == CaptureStatus::none);
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("a capture that recorded nothing names at most ten of its steps, and counts the others",
          "[capture][errors]") {
    const Stream stream;
    for (const int steps : {0, 1, 10, 11, 13}) {
        StreamCapture capture(stream);
        for (int i = 0; i < steps; ++i)
            capture.step("none", [] {}, {.allow_empty = true});
        const std::string text = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); }).what();
        std::size_t named = 0;
        for (std::size_t at = text.find("\"none\""); at != std::string::npos; at = text.find("\"none\"", at + 1))
            ++named;
        CHECK(named == static_cast<std::size_t>(std::min(steps, 10)));
        if (steps <= 10)
            CHECK_THAT(text, !ContainsSubstring(" more"));
        else
            CHECK_THAT(text, ContainsSubstring(", and " + std::to_string(steps - 10) +
                                               " more: only work in the captured stream"));
    }
}

TEST_CASE("a step names itself in errors about the capture, and leaves others as they are", "[capture][errors]") {
    const Stream stream;
    StreamCapture capture(stream);
    const auto in_step = [&](const auto& function) { return [&] { capture.step("frame", function); }; };
    const auto wrapped = refused<CaptureError>(in_step([&] {
        launch(stream, {}, nothing);
        throw CaptureError(cudaErrorInvalidValue, "cudag: its own");
    }));
    CHECK(wrapped.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(wrapped.labels() == Labels{"frame"});
    CHECK_THAT(wrapped.what(), ContainsSubstring("step \"frame\" at ") && EndsWith(": its own"));
    const auto about_capture =
        refused<CaptureError>(in_step([&] { throw cudag::Error(cudaErrorStreamCaptureIsolation, "cudag: its own"); }));
    CHECK(about_capture.code() == cuda_code(cudaErrorStreamCaptureIsolation));
    CHECK(about_capture.labels() == Labels{"frame"});
    const auto other =
        refused<cudag::GraphError>(in_step([&] { throw cudag::GraphError(cudaErrorInvalidValue, "cudag: its own"); }));
    CHECK_THAT(other.what(), Equals("cudag: its own"));
    CHECK(capture.status() == CaptureStatus::active);
}

TEST_CASE("908: a capture that another thread ends has ended, with nothing to finish", "[capture][errors]") {
    const Stream stream;
    StreamCapture capture(stream);
    std::thread([&] {
        cudaGraph_t graph = nullptr;
        const auto error = refused<CaptureError>([&] { check(cudaStreamEndCapture(stream.get(), &graph)); });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureWrongThread));
        CHECK_THAT(error.what(), ContainsSubstring("a capture ends on the thread that began it"));
    }).join();
    CHECK(capture.status() == CaptureStatus::none);
    const auto error = refused<CaptureError>([&] { static_cast<void>(std::move(capture).finish()); });
    CHECK_THAT(error.what(), ContainsSubstring("something other than its StreamCapture called cudaStreamEndCapture"));
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("a capture dropped on another thread leaves the stream usable", "[capture][errors]") {
    const Stream stream;
    auto capture = std::make_unique<StreamCapture>(stream);
    std::thread([&] { capture.reset(); }).join();
    CHECK(can_be_captured(stream.get()));
}

TEST_CASE("whoever captures a stream, its status can be asked for", "[capture]") {
    const Stream stream;
    CHECK(cudag::capture_status(stream) == CaptureStatus::none);
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
    CHECK(cudag::capture_status(stream) == CaptureStatus::active);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph));
    check(cudaGraphDestroy(graph));
    CHECK(cudag::capture_status(stream) == CaptureStatus::none);

    StreamCapture broken(stream);
    CHECK(cudaStreamSynchronize(stream.get()) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
    CHECK(cudag::capture_status(stream) == CaptureStatus::invalidated);
    CHECK(to_string(cudag::capture_status(stream)) == std::string("invalidated"));
}

TEST_CASE("the legacy default stream has no status while a blocking stream is captured", "[capture][legacy]") {
    const Blocking blocking;
    const cudaStream_t legacy = nullptr;
    CHECK(cudag::capture_status(legacy) == CaptureStatus::none);
    const StreamCapture capture(blocking.stream);
    const auto error = refused<CaptureError>([&] { static_cast<void>(cudag::capture_status(legacy)); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureImplicit));
    CHECK(capture.status() == CaptureStatus::active);
}
