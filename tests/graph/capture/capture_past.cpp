// Work that goes past a capture: to streams that are not captured, by calls that the capture refuses, or not at all.
#include <optional>
#include <thread>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::capture;
using cudag::CaptureCache;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::check;
using cudag::Exec;
using cudag::Graph;
using cudag::launch;
using cudag::RunKind;
using cudag::Steps;
using cudag::Stream;
using cudag::StreamCapture;
using cudag::ThreadCaptureMode;

namespace {

void allocate_and_forget() {
    void* memory = nullptr;
    static_cast<void>(cudaMalloc(&memory, 16));
}

/// The capture refuses it, stays alive, and has no copy.
void batch_and_forget(cudaStream_t stream, int* to, int* from) {
#if CUDART_VERSION >= 13000
    const void* source = from;
    void* destination = to;
    std::size_t size = sizeof(int), index = 0;
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    static_cast<void>(cudaMemcpyBatchAsync(&destination, &source, &size, 1, &attributes, &index, 1, stream));
#elif CUDART_VERSION >= 12080
    void* source = from;
    void* destination = to;
    std::size_t size = sizeof(int), index = 0, failed = 0;
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    static_cast<void>(cudaMemcpyBatchAsync(&destination, &source, &size, 1, &attributes, &index, 1, &failed, stream));
#else
    static_cast<void>(stream), static_cast<void>(to), static_cast<void>(from);
#endif
}
/// The same, as a library that swallows the error.
void copy_by_batch(cudaStream_t stream, int* to, int* from) {
    batch_and_forget(stream, to, from);
    static_cast<void>(cudaGetLastError());
}

bool has_batches() {
    return CUDART_VERSION >= 12080 && has_log();
}

bool skipped_without_batches() {
    if (has_batches()) return false;
    WARN("skipped: it needs cudaMemcpyBatchAsync and CUDA's log");
    return true;
}

} // namespace

TEST_CASE("work for a stream that is not captured is refused during a capture", "[capture][past]") {
    const Stream stream;
    const Stream other;
    const auto cells = device({1, 2});
    std::vector<int> host{0, 0};
    Exec exec = capture(other, [&](cudaStream_t s) { launch(s, {}, store, cells.data(), 9); }).instantiate();
    StreamCapture c(stream);
    const auto refuse = [&](const std::string& what, const auto& call) {
        INFO(what);
        unsigned line = 0;
        const auto error = refused<CaptureError>([&] {
            line = __LINE__ + 1;
            c.step("gemm", [&](cudaStream_t s) {
                launch(s, {}, nothing);
                call();
            });
        });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(), ContainsSubstring(what) && ContainsSubstring("is not part of the capture at ") &&
                                     ContainsSubstring("in step \"gemm\" at ") &&
                                     ContainsSubstring("capture_past.cpp:" + std::to_string(line)) &&
                                     ContainsSubstring("missing in every replay") &&
                                     ContainsSubstring("StreamCapture::fork") &&
                                     ContainsSubstring("ThreadCaptureMode(CaptureMode::relaxed)"));
    };
    refuse("launch of store", [&] { launch(other, {}, store, cells.data(), 5); });
    refuse("launch of store", [&] { launch(other, {.cooperative = true}, store, cells.data(), 5); });
    refuse("memcpy_async at ", [&] { cudag::memcpy_async(other, cells, host); });
    refuse("memcpy_async at ", [&] {
        const cudag::DeviceSpan2D<int> region(cells.data(), 1, 2, sizeof(int));
        cudag::memcpy_async(other, region, region);
    });
    refuse("memset_async at ", [&] { cudag::memset_async(other, cells, 7); });
    refuse("launch of an Exec of the graph made at ", [&] { exec.launch(other); });
    refuse("the legacy default stream", [&] { launch(cudaStreamLegacy, {}, store, cells.data(), 5); });
    refuse("capture_or_run at ", [&] {
        static_cast<void>(cudag::capture_or_run(other, [&](cudaStream_t s) { launch(s, {}, store, cells.data(), 5); }));
    });
    refuse("CaptureCache::run at ",
           [&] { CaptureCache().run(other, 1, [&](cudaStream_t s) { launch(s, {}, store, cells.data(), 5); }); });
    CHECK(c.status() == cudag::CaptureStatus::active);
    launch(stream, {}, store, cells.data(), 3);
    Exec good = std::move(c).finish().instantiate();
    other.synchronize();
    CHECK(read(cells) == std::vector{1, 2});
    good.launch(stream);
    stream.synchronize();
    exec.launch(other); // the capture is over
    other.synchronize();
    CHECK(read(cells).back() == 2);
}

TEST_CASE("outside of steps, and in a relaxed capture, it is refused, too", "[capture][past]") {
    const Stream stream;
    const Stream other;
    const auto cell = device({1});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream,
                                  [&](cudaStream_t s) {
                                      launch(s, {}, nothing);
                                      launch(other, {}, store, cell.data(), 5);
                                  },
                                  {.mode = CaptureMode::relaxed}));
    });
    CHECK_THAT(error.what(), ContainsSubstring("(relaxed)") && !ContainsSubstring("in step"));
    other.synchronize();
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("forked streams, allowed work and other threads are none that goes past a capture", "[capture][past]") {
    const Stream stream;
    const Stream forked;
    const Stream by_event;
    const Stream other;
    const auto cells = device({0, 0, 0, 0, 0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        launch(stream, {}, store, cells.data(), 1);
        c.fork(forked);
        launch(forked, {}, store, cells.data() + 1, 2);
        c.join(forked);
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        check(cudaEventRecord(event, stream.get()));
        check(cudaStreamWaitEvent(by_event.get(), event, 0));
        launch(by_event, {}, store, cells.data() + 2, 3);
        check(cudaEventRecord(event, by_event.get()));
        check(cudaStreamWaitEvent(stream.get(), event, 0));
        check(cudaEventDestroy(event));
        {
            const ThreadCaptureMode allow(CaptureMode::relaxed);
            launch(other, {}, store, cells.data() + 3, 4);
        }
        std::thread([&] { launch(other, {}, store, cells.data() + 4, 5); }).join();
    });
    CHECK(graph.node_count() == 3);
    other.synchronize();
    CHECK(read(cells) == std::vector{0, 0, 0, 4, 5});
    Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 2, 3, 4, 5});
}

TEST_CASE("a capture that was abandoned, or ended elsewhere, refuses nothing", "[capture][past]") {
    const Stream stream;
    const Stream other;
    const auto cell = device({0});
    { const StreamCapture dropped(stream); }
    launch(other, {}, store, cell.data(), 1);
    {
        const StreamCapture ended(stream);
        cudaGraph_t graph = nullptr;
        check(cudaStreamEndCapture(stream.get(), &graph));
        launch(other, {}, store, cell.data(), 2);
        check(cudaGraphDestroy(graph));
    }
    {
        StreamCapture outer(stream);
        {
            StreamCapture inner(other);
            launch(stream, {}, nothing);
            launch(other, {}, nothing);
            CHECK(std::move(inner).finish().node_count() == 1);
        }
        const auto error = refused<CaptureError>([&] { launch(other, {}, store, cell.data(), 3); });
        CHECK_THAT(error.what(), ContainsSubstring("launch of store"));
        CHECK_THAT(refused<CaptureError>([&] { static_cast<void>(std::move(outer).finish()); }).what(),
                   ContainsSubstring("finish: launch of store"));
    }
    other.synchronize();
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("a capture that has ended, on whichever thread, allows no work past another one", "[capture][past]") {
    const Stream stream;
    const Stream ended;
    const auto cell = device({1});
    std::optional<StreamCapture> outer;
    if (GENERATE(false, true)) outer.emplace(stream); // first, or second
    StreamCapture relaxed(ended, {.mode = CaptureMode::relaxed});
    if (!outer) outer.emplace(stream);
    launch(ended, {}, nothing);
    if (GENERATE(false, true))
        std::thread([&] { CHECK(std::move(relaxed).finish().node_count() == 1); }).join();
    else
        CHECK(std::move(relaxed).finish().node_count() == 1);
    for (const cudaStream_t past : {ended.get(), cudaStream_t{}, cudaStreamLegacy}) {
        const auto error = refused<CaptureError>([&] { launch(past, {}, store, cell.data(), 5); });
        CHECK_THAT(error.what(), ContainsSubstring("is not part of the capture at "));
    }
    launch(stream, {}, nothing);
    CHECK(outer->status() == cudag::CaptureStatus::active);
    outer.reset();
    ended.synchronize();
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a step in which such an error was swallowed is refused with it", "[capture][past]") {
    const Stream stream;
    const Stream other;
    const auto cell = device({0});
    StreamCapture c(stream);
    const auto swallow = [&](cudaStream_t s) {
        launch(s, {}, nothing);
        try {
            launch(other, {}, store, cell.data(), 1);
        } catch (const CaptureError&) { // as code that knows nothing of captures may do
        }
    };
    const auto error = refused<CaptureError>([&] { c.step("swallows", swallow); });
    CHECK_THAT(error.what(), ContainsSubstring("step \"swallows\" at ") && ContainsSubstring("launch of store"));
    c.step("next", [](cudaStream_t s) { launch(s, {}, nothing); });
    CHECK(std::move(c).finish().node_count() == 2);
}

TEST_CASE("a CaptureCache runs a key eagerly whose function sends work past the capture", "[capture][past]") {
    const Stream stream;
    const Stream other;
    const auto cells = device({0, 0});
    CaptureCache cache({.warm_up = 1, .retries = 0});
    for (int i = 0; i < 6; ++i)
        CHECK(cache.run(stream, 1, [&](cudaStream_t s) {
            launch(other, {}, add, cells.data(), cells.data(), 1);
            launch(s, {}, add, cells.data() + 1, cells.data() + 1, 1);
        }) == RunKind::eager);
    stream.synchronize();
    other.synchronize();
    CHECK(read(cells) == std::vector{6, 6});
    CHECK_THAT(cache.report().keys.at(0).reason, ContainsSubstring("is not part of the capture"));
}

TEST_CASE("a step that records nothing is refused, unless it may", "[capture][past]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture c(stream);
    unsigned line = 0;
    const auto error = refused<CaptureError>([&] {
        line = __LINE__ + 1;
        c.step("norm", [&] { static_cast<void>(cell); });
    });
    CHECK_THAT(error.what(), ContainsSubstring("step \"norm\" at ") &&
                                 ContainsSubstring("capture_past.cpp:" + std::to_string(line)) &&
                                 ContainsSubstring("recorded nothing") &&
                                 ContainsSubstring("StepOptions{.allow_empty = true}"));
    CHECK(error.labels() == Labels{"norm"});
    c.step("may be empty", [] {}, {.allow_empty = true});
    CHECK(c.step("value", [] { return 3; }, {.allow_empty = true}) == 3);
    c.step("outer", [&] { c.step("inner", [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); }); });
    CHECK(std::move(c).finish().node_count() == 1);
}

TEST_CASE("a step that forks or joins, or whose capture may be empty, may record nothing", "[capture][past]") {
    const Stream stream;
    const Stream side;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("first", [&] { launch(stream, {}, nothing); });
        c.step("fork", [&] { c.fork(side); });
        c.step("beside", [&] { launch(side, {}, nothing); });
        c.step("join", [&] { c.join(side); });
    });
    CHECK(graph.node_count() == 2);
    CHECK(capture(stream, [&](StreamCapture& c) { c.step("none", [] {}); }, {.allow_empty = true}).node_count() == 0);
}

TEST_CASE("a key with an empty step runs eagerly, and the report names the step", "[capture][past]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .retries = 0});
    const auto run = [&](int key, cudag::StepOptions options) {
        return cache.run(stream, key, [&](Steps& steps) {
            steps.step("work", [&](cudaStream_t s) { launch(s, {}, nothing); });
            steps.step(
                "none", [] {}, options);
        });
    };
    CHECK(run(1, {}) == RunKind::eager);
    CHECK(run(2, {.allow_empty = true}) == RunKind::captured);
    CHECK(cache.report().keys.at(0).step == "none");
    CHECK_THAT(cache.report().keys.at(0).reason, ContainsSubstring("recorded nothing"));
    stream.synchronize();
}

TEST_CASE("the call that broke a capture is named, whatever throws after it in the step", "[capture][past]") {
    if (!has_log()) {
        WARN("skipped: it needs CUDA's log");
        return;
    }
    const Stream stream;
    const Stream other;
    const auto cells = device({0});
    const std::vector<int> host{1};
    const auto check_named = [&](const std::string& broken, const auto& breaks, const std::string& then,
                                 const auto& throws) {
        INFO(broken << ", then " << then);
        StreamCapture c(stream);
        const auto error = refused<CaptureError>([&] {
            c.step("frame", [&](cudaStream_t s) {
                launch(s, {}, nothing);
                breaks();
                throws(s);
            });
        });
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        CHECK_THAT(error.what(), ContainsSubstring("step \"frame\" at ") && ContainsSubstring(broken_by(broken)) &&
                                     ContainsSubstring("; then ") && ContainsSubstring(then) &&
                                     !ContainsSubstring("record it in steps"));
        CHECK(error.operation() == broken);
    };
    const auto wait = [&] { static_cast<void>(cudaStreamSynchronize(other.get())); };
    const auto launches = [&](cudaStream_t s) { launch(s, {}, store, cells.data(), 1); };
    const auto copies = [&](cudaStream_t s) { cudag::memcpy_async(s, cells, host); };
    const auto fills = [&](cudaStream_t s) { cudag::memset_async(s, cells, 1); };
    check_named("cuMemAlloc_v2", allocate_and_forget, "launch of store", launches);
    check_named("cuMemAlloc_v2", allocate_and_forget, "memcpy_async", copies);
    check_named("cuMemAlloc_v2", allocate_and_forget, "memset_async", fills);
    check_named("cuStreamSynchronize", wait, "launch of store", launches);
    check_named("cuStreamSynchronize", wait, "memcpy_async", copies);
    check_named("cuMemAlloc_v2", allocate_and_forget, "call at", [](cudaStream_t s) {
        check(cudaLaunchHostFunc(
            s, [](void*) {}, nullptr));
    });
}

TEST_CASE("a call that the capture refused is reported, though its caller swallowed the error", "[capture][past]") {
    if (skipped_without_batches()) return;
    const Stream stream;
    const auto cells = device({1, 2});
    const auto work = [&](cudaStream_t s) {
        launch(s, {}, nothing);
        copy_by_batch(s, cells.data(), cells.data() + 1);
    };
    const auto check_told = [](const std::string& text) {
        CHECK_THAT(text, ContainsSubstring("cuMemcpyBatchAsync") && ContainsSubstring("was refused") &&
                             ContainsSubstring("goes on without it") &&
                             ContainsSubstring(".allow_refused_calls = true"));
    };
    SECTION("in a step") {
        StreamCapture c(stream);
        const auto error = refused<CaptureError>([&] { c.step("batch", work); });
        CHECK_THAT(error.what(), ContainsSubstring("step \"batch\" at "));
        check_told(error.what());
        CHECK(error.labels() == Labels{"batch"});
        c.step("allowed", work, {.allow_refused_calls = true});
        c.step("around", [&] { c.step("inner", work); }, {.allow_refused_calls = true});
        c.step("plain", [&] { launch(stream, {}, nothing); });
        CHECK(std::move(c).finish().node_count() == 4);
    }
    SECTION("before a step") {
        StreamCapture c(stream);
        work(stream.get());
        const auto error = refused<CaptureError>([&] { c.step("next", [] {}); });
        CHECK_THAT(error.what(), ContainsSubstring("before this step, cuMemcpyBatchAsync"));
    }
    SECTION("without steps") {
        check_told(refused<CaptureError>([&] { static_cast<void>(capture(stream, work)); }).what());
        CHECK(capture(stream, work, {.allow_refused_calls = true}).node_count() == 1);
    }
    SECTION("in a CaptureCache") {
        CaptureCache cache({.warm_up = 0, .retries = 0});
        CHECK(cache.run(stream, 1, work) == RunKind::eager);
        stream.synchronize();
        CHECK(read(cells) == std::vector{2, 2});
        check_told(cache.report().keys.at(0).reason);
    }
}

TEST_CASE("calls that a step allows the capture to refuse are allowed until its end, and no longer",
          "[capture][past]") {
    if (skipped_without_batches()) return;
    const Stream stream;
    const auto cells = device({1, 2});
    const auto work = [&](cudaStream_t s) {
        launch(s, {}, nothing);
        copy_by_batch(s, cells.data(), cells.data() + 1);
    };
    StreamCapture c(stream);
    c.step("allowed", work, {.allow_refused_calls = true});
    CHECK_THAT(refused<CaptureError>([&] { c.step("next", work); }).what(), ContainsSubstring("was refused"));
    c.step("around",
           [&] {
               c.step("inner", work);
               work(stream.get());
           },
           {.allow_refused_calls = true});
    CHECK_THROWS_AS(c.step("throws", [] { throw 7; }, {.allow_refused_calls = true}), int);
    CHECK_THAT(refused<CaptureError>([&] { c.step("last", work); }).what(), ContainsSubstring("was refused"));
}

TEST_CASE("a step on another thread is not blamed for what was refused in that thread's own capture",
          "[capture][past][threads]") {
    if (skipped_without_batches()) return;
    const Stream stream;
    const Stream theirs;
    const auto cells = device({1, 2});
    StreamCapture c(stream, {.mode = CaptureMode::relaxed});
    std::thread([&] {
        const auto work = [&](cudaStream_t s) {
            launch(s, {}, nothing);
            copy_by_batch(s, cells.data(), cells.data() + 1);
        };
        CHECK(capture(theirs, work, {.allow_refused_calls = true}).node_count() == 1);
        CHECK_NOTHROW(c.step("ours", [](cudaStream_t s) { launch(s, {}, nothing); }));
    }).join();
    CHECK(std::move(c).finish().node_count() == 1);
}

TEST_CASE("a refused call that a step has told as an unread error is not told as what broke the capture later",
          "[capture][past]") {
    if (skipped_without_batches()) return;
    const Stream stream;
    const auto cells = device({1, 2});
    StreamCapture c(stream);
    const auto error = refused<CaptureError>([&] {
        c.step("batch", [&](cudaStream_t s) {
            launch(s, {}, nothing);
            batch_and_forget(s, cells.data(), cells.data() + 1);
        });
    });
    CHECK_THAT(error.what(),
               ContainsSubstring("cuMemcpyBatchAsync") && ContainsSubstring(" failed, and its error was not read"));
    allocate_and_forget();
    static_cast<void>(cudaGetLastError());
    CHECK_THAT(refused<CaptureError>([&] { static_cast<void>(std::move(c).finish()); }).what(),
               ContainsSubstring(broken_by("cuMemAlloc_v2")));
}

TEST_CASE("calls that fail for reasons of their own are not put down to the capture", "[capture][past]") {
    const Stream stream;
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("probing", [&] {
            launch(stream, {}, nothing);
            int value = 0;
            static_cast<void>(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 99));
            static_cast<void>(cudaGetLastError());
        });
    });
    CHECK(graph.node_count() == 1);
}
