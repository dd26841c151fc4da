// The legacy stream while streams capture that it waits for otherwise.
#include "capture.hpp"

#include <functional>
#include <vector>

namespace {

struct Use {
    const char* name;
    std::function<cudaError_t()> call;
};

} // namespace

TEST_CASE("the legacy stream is of no use while a blocking stream captures", "[capture][default_stream]") {
    DeviceInts data(4);
    const std::vector<int> host(4, 3);
    Call set(store, data.data(), 0, 1);
    Event event;
    const std::vector<Use> uses{
        {"a launch", [&] { return cudaLaunchKernel(set.function(), 1, 1, set.arguments(), 0, nullptr); }},
        {"cudaMemcpy", [&] { return cudaMemcpy(data.data(), host.data(), 4, cudaMemcpyHostToDevice); }},
        {"cudaMemset", [&] { return cudaMemset(data.data(), 0, 4); }},
        {"cudaMemsetAsync", [&] { return cudaMemsetAsync(data.data(), 0, 4, nullptr); }},
        {"cudaMemset2D", [&] { return cudaMemset2D(data.data(), 8, 0, 4, 2); }},
        {"cudaEventRecord", [&] { return cudaEventRecord(event, nullptr); }},
        {"cudaStreamGetFlags",
         [] {
             unsigned flags = 0;
             return cudaStreamGetFlags(nullptr, &flags);
         }},
        {"cudaStreamGetPriority",
         [] {
             int priority = 0;
             return cudaStreamGetPriority(nullptr, &priority);
         }},
        {"cudaStreamSynchronize", [&] { return cudaStreamSynchronize(nullptr); }},
    };
    const auto mode = GENERATE(values(all_modes));
    const bool by_another_thread = GENERATE(false, true);
    for (const Use& use : uses) {
        INFO(use.name);
        Stream stream;
        Capture capture(stream, mode);
        const auto run = [&] { REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit, use.call()); };
        if (by_another_thread) {
            elsewhere(run);
        } else {
            run();
        }
        REQUIRE(invalidated(stream));
        capture.fail(cudaErrorStreamCaptureInvalidated);
    }
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(data.read() == std::vector<int>(4, poison));
}

TEST_CASE("a non-blocking stream's capture leaves the legacy stream alone", "[capture][default_stream]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Call call(nothing);
    Capture capture(stream, relaxed);
    call.launch(stream);
    REQUIRE(status_of(cudaStreamLegacy) == cudaStreamCaptureStatusNone);
    set.launch(nullptr);
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
    REQUIRE(data.read() == std::vector{1});
    REQUIRE(captures(stream));
    REQUIRE(nodes_of(capture.end()).size() == 1);
}

TEST_CASE("asking whether the legacy stream captures fails while a blocking one does, without harm",
          "[capture][default_stream]") {
    Stream stream;
    Capture capture(stream);
    auto status = cudaStreamCaptureStatusInvalidated;
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(cudaStreamLegacy, &status));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit,
                       cudaStreamGetCaptureInfo(nullptr, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
    REQUIRE(status == cudaStreamCaptureStatusInvalidated);
    REQUIRE(captures(stream));
    capture.end();
    REQUIRE(status_of(cudaStreamLegacy) == cudaStreamCaptureStatusNone);
}

TEST_CASE("a blocking fork closes the legacy stream as a blocking origin does", "[capture][default_stream]") {
    Stream origin(cudaStreamNonBlocking);
    Stream fork;
    Call call(nothing);
    Capture capture(origin, relaxed);
    call.launch(origin);
    follow(fork, origin);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit,
                       cudaLaunchKernel(call.function(), 1, 1, call.arguments(), 0, nullptr));
    REQUIRE(invalidated(origin));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("a blocking fork of a capture without nodes closes the legacy stream to every thread, and needs no join",
          "[capture][default_stream]") {
    Stream origin(cudaStreamNonBlocking);
    Stream fork;
    Call call(nothing);
    const auto mode = GENERATE(values(all_modes));
    SECTION("used") {
        Capture capture(origin, mode);
        follow(fork, origin);
        call.launch(origin);
        elsewhere([&] {
            REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit,
                               cudaLaunchKernel(call.function(), 1, 1, call.arguments(), 0, nullptr));
        });
        REQUIRE(invalidated(origin));
        capture.fail(cudaErrorStreamCaptureInvalidated);
    }
    SECTION("not used") {
        Capture capture(origin, mode);
        follow(fork, origin);
        call.launch(origin);
        REQUIRE(nodes_of(capture.end()).size() == 1);
        REQUIRE(status_of(fork) == cudaStreamCaptureStatusNone);
    }
    call.launch(nullptr);
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
}

TEST_CASE("an invalidated capture of a blocking stream keeps the legacy stream closed until its end",
          "[capture][default_stream]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
    REQUIRE(invalidated(stream));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit,
                       cudaLaunchKernel(call.function(), 1, 1, call.arguments(), 0, nullptr));
    capture.fail(cudaErrorStreamCaptureInvalidated);
    call.launch(nullptr);
    REQUIRE_CUDA(cudaStreamSynchronize(nullptr));
}

TEST_CASE("the per-thread stream's capture closes the legacy stream", "[capture][default_stream]") {
    Call call(nothing);
    Capture capture(cudaStreamPerThread, relaxed);
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit,
                       cudaLaunchKernel(call.function(), 1, 1, call.arguments(), 0, nullptr));
    REQUIRE(invalidated(cudaStreamPerThread));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}

TEST_CASE("the legacy stream cannot be forked into a capture: that invalidates it", "[capture][default_stream]") {
    Stream stream(cudaStreamNonBlocking);
    Event event;
    Call call(nothing);
    Capture capture(stream, relaxed);
    call.launch(stream);
    REQUIRE_CUDA(cudaEventRecord(event, stream));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureImplicit, cudaStreamWaitEvent(cudaStreamLegacy, event, 0));
    REQUIRE(invalidated(stream));
    capture.fail(cudaErrorStreamCaptureInvalidated);
}
