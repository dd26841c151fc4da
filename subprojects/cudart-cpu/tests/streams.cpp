// Order within and between streams, dead handles, events, threads.
#include "check.hpp"
#include "gate.hpp"

#include <cudart_cpu/control.hpp>

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

cudaStream_t make_stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

void set_on(cudaStream_t stream, std::atomic<bool>& flag) {
    CHECK_OK(cudaLaunchHostFunc(
        stream, [](void* f) { static_cast<std::atomic<bool>*>(f)->store(true); }, &flag));
}

void work_is_asynchronous_and_ordered() {
    cudaStream_t stream = make_stream();
    Gate gate;
    gate.close(stream);
    std::atomic<bool> ran = false;
    set_on(stream, ran);
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(stream));
    CHECK(!ran);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(ran);
    CHECK_OK(cudaStreamQuery(stream));
    CHECK_OK(cudaStreamDestroy(stream));
}

void the_legacy_stream_waits_for_blocking_streams_and_holds_them_up() {
    cudaStream_t blocking = make_stream();
    cudaStream_t other = make_stream();
    cudaStream_t free_running = make_stream(cudaStreamNonBlocking);
    Gate gate;
    gate.close(blocking);
    std::atomic<bool> on_legacy = false;
    std::atomic<bool> on_other = false;
    std::atomic<bool> on_free = false;
    set_on(nullptr, on_legacy);
    set_on(other, on_other);
    set_on(free_running, on_free);
    CHECK_OK(cudaStreamSynchronize(free_running));
    CHECK(on_free && !on_legacy && !on_other);
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(nullptr));
    gate.open();
    CHECK_OK(cudaStreamSynchronize(other));
    CHECK(on_legacy && on_other);
    for (cudaStream_t stream : {blocking, other, free_running}) {
        CHECK_OK(cudaStreamDestroy(stream));
    }
}

void destroying_a_busy_stream_returns_and_its_work_ends() {
    cudaStream_t stream = make_stream();
    const std::size_t live = cudart_cpu::live().streams;
    Gate gate;
    gate.close(stream);
    std::atomic<bool> ran = false;
    set_on(stream, ran);
    CHECK_OK(cudaStreamDestroy(stream));
    CHECK(cudart_cpu::live().streams == live - 1);
    CHECK(!ran);
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    gate.open();
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(ran);
}

void an_event_captures_the_work_at_its_record() {
    cudaStream_t producer = make_stream();
    cudaStream_t consumer = make_stream();
    cudaEvent_t event = nullptr;
    CHECK_OK(cudaEventCreate(&event));
    CHECK_OK(cudaEventQuery(event));
    Gate gate;
    gate.close(producer);
    CHECK_OK(cudaEventRecord(event, producer));
    CHECK_OK(cudaStreamWaitEvent(consumer, event, 0));
    std::atomic<bool> ran = false;
    set_on(consumer, ran);
    CHECK_CODE(cudaErrorNotReady, cudaEventQuery(event));
    float ms = -1;
    CHECK_CODE(cudaErrorNotReady, cudaEventElapsedTime(&ms, event, event));
    // Destroying it does not release the waiting stream.
    CHECK_OK(cudaEventDestroy(event));
    CHECK(!ran);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(consumer));
    CHECK(ran);
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventSynchronize(event));
    CHECK_OK(cudaStreamDestroy(producer));
    CHECK_OK(cudaStreamDestroy(consumer));
}

void elapsed_time_covers_the_work_between() {
    cudaStream_t stream = make_stream();
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    cudaEvent_t untimed = nullptr;
    CHECK_OK(cudaEventCreate(&start));
    CHECK_OK(cudaEventCreate(&end));
    CHECK_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    float ms = 0;
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
    CHECK_OK(cudaEventRecord(start, stream));
    CHECK_OK(cudaLaunchHostFunc(
        stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }, nullptr));
    CHECK_OK(cudaEventRecord(end, stream));
    CHECK_OK(cudaEventRecord(untimed, stream));
    CHECK_OK(cudaEventSynchronize(untimed));
    CHECK_OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms >= 5.0f);
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
    for (cudaEvent_t event : {start, end, untimed}) {
        CHECK_OK(cudaEventDestroy(event));
    }
    CHECK_OK(cudaStreamDestroy(stream));
}

void each_thread_has_its_own_default_stream() {
    Gate gate;
    gate.close(cudaStreamPerThread);
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(cudaStreamPerThread));
    std::thread([] {
        std::atomic<bool> ran = false;
        set_on(cudaStreamPerThread, ran);
        CHECK_OK(cudaStreamSynchronize(cudaStreamPerThread));
        CHECK(ran);
    }).join();
    gate.open();
    CHECK_OK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaStreamDestroy(cudaStreamPerThread));
}

void many_threads_may_use_many_streams() {
    constexpr int threads = 4;
    constexpr int rounds = 50;
    std::atomic<int> sum = 0;
    std::vector<std::thread> users;
    for (int t = 0; t < threads; ++t) {
        users.emplace_back([&sum] {
            for (int round = 0; round < rounds; ++round) {
                cudaStream_t stream = make_stream(round % 2 == 0 ? cudaStreamDefault : cudaStreamNonBlocking);
                for (cudaStream_t target : {stream, cudaStream_t{nullptr}, cudaStreamPerThread}) {
                    CHECK_OK(cudaLaunchHostFunc(
                        target, [](void* s) { static_cast<std::atomic<int>*>(s)->fetch_add(1); }, &sum));
                }
                CHECK_OK(cudaStreamDestroy(stream));
            }
        });
    }
    for (std::thread& user : users) {
        user.join();
    }
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(sum == threads * rounds * 3);
}

void flags_priorities_and_capture_state_are_told() {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -100));
    unsigned flags = 0;
    int priority = 0;
    CHECK_OK(cudaStreamGetFlags(stream, &flags));
    CHECK_OK(cudaStreamGetPriority(stream, &priority));
    CHECK(flags == cudaStreamNonBlocking && priority == -5);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    CHECK_OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CHECK_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeGlobal);
    CHECK_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == cudaStreamCaptureModeRelaxed);
    CHECK_OK(cudaStreamDestroy(stream));
}

} // namespace

/// Bytes that a call leaves behind, of so many.
template <class Call>
std::size_t left_by(Call&& call) {
    constexpr std::size_t calls = 2000;
    const auto used = [] {
        const auto info = mallinfo2();
        return info.uordblks + info.hblkhd;
    };
    call();
    const std::size_t before = used();
    for (std::size_t i = 0; i < calls; ++i) {
        call();
    }
    const std::size_t after = used();
    return after > before ? (after - before) / calls : 0;
}

void destroyed_streams_leave_no_memory() {
    CHECK(left_by([] { CHECK_OK(cudaStreamDestroy(make_stream(cudaStreamNonBlocking))); }) < 50);
    CHECK(left_by([] {
              cudaStream_t stream = make_stream();
              CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
              cudaGraph_t graph = nullptr;
              CHECK_OK(cudaStreamEndCapture(stream, &graph));
              CHECK_OK(cudaGraphDestroy(graph));
              CHECK_OK(cudaStreamDestroy(stream));
          }) < 50);
    CHECK(left_by([] {
              cudaStream_t stream = make_stream(cudaStreamNonBlocking);
              std::atomic<bool> ran = false;
              set_on(stream, ran);
              CHECK_OK(cudaStreamSynchronize(stream));
              CHECK_OK(cudaStreamDestroy(stream));
          }) < 50);
}

void destroyed_streams_leave_no_memory_once_their_work_has_ended() {
    std::atomic<int> ran = 0;
    CHECK(left_by([&] {
              const int before = ran;
              cudaStream_t stream = make_stream(cudaStreamNonBlocking);
              CHECK_OK(cudaLaunchHostFunc(
                  stream,
                  [](void* count) {
                      std::this_thread::yield();
                      ++*static_cast<std::atomic<int>*>(count);
                  },
                  &ran));
              CHECK_OK(cudaStreamDestroy(stream));
              while (ran == before) {
                  std::this_thread::yield();
              }
          }) < 100); // the last few may not have left yet
}

int main() {
    work_is_asynchronous_and_ordered();
    the_legacy_stream_waits_for_blocking_streams_and_holds_them_up();
    destroying_a_busy_stream_returns_and_its_work_ends();
    an_event_captures_the_work_at_its_record();
    elapsed_time_covers_the_work_between();
    each_thread_has_its_own_default_stream();
    many_threads_may_use_many_streams();
    flags_priorities_and_capture_state_are_told();
    destroyed_streams_leave_no_memory();
    destroyed_streams_leave_no_memory_once_their_work_has_ended();
}
