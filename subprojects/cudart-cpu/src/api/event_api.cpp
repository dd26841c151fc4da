// cudaEvent*.
#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_event_work.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "submit/event_submit.hpp"

#include <chrono>

namespace cudart_cpu::detail {

namespace {

cudaEvent_t create_checked(cudaEvent_t* event, unsigned flags) {
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    require_pointer(event, "event");
    if ((flags & ~known) != 0) {
        fail(cudaErrorInvalidValue, text("event flags ", flags, " are unknown"));
    }
    if ((flags & cudaEventInterprocess) != 0 && (flags & cudaEventDisableTiming) == 0) {
        fail(cudaErrorInvalidValue, "an interprocess event needs cudaEventDisableTiming");
    }
    return create_event(flags);
}

void record_checked(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    Event& recorded = event_of(event);
    Stream& recorder = stream_of(stream);
    if (flags == cudaEventRecordExternal) {
        if (!captured(recorder, [&](auto&&...) { return std::make_shared<EventRecordWork>(event); })) {
            fail(cudaErrorIllegalState, "CU_EVENT_RECORD_EXTERNAL flag is set but stream is not capturing");
        }
        return;
    }
    if (flags != cudaEventRecordDefault) {
        fail(cudaErrorInvalidValue, "Invalid event recording flags");
    }
    if (recorded.device() != recorder.device()) {
        fail(cudaErrorInvalidResourceHandle,
             text("the event belongs to device ", recorded.device(), ", the stream to device ", recorder.device()));
    }
    record(recorded, recorder);
}

/// Throws unless the event is timed and recorded.
CompletionPtr timed_record_of(cudaEvent_t handle) {
    const Event& event = event_of(handle);
    if (!event.timed()) {
        fail(cudaErrorInvalidResourceHandle, "the event was created with cudaEventDisableTiming");
    }
    CompletionPtr recorded = event.recorded();
    if (recorded == nullptr) {
        fail(cudaErrorInvalidResourceHandle, "the event was never recorded");
    }
    return recorded;
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return api("cudaEventCreate", [&] { *event = create_checked(event, cudaEventDefault); });
}

CUDART_CPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return api("cudaEventCreateWithFlags", [&] { *event = create_checked(event, flags); });
}

CUDART_CPU_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api("cudaEventDestroy", [&] { destroy_event(event); });
}

CUDART_CPU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return api("cudaEventRecord", [&] { record_checked(event, stream, cudaEventRecordDefault); });
}

CUDART_CPU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    return api("cudaEventRecordWithFlags", [&] { record_checked(event, stream, flags); });
}

CUDART_CPU_API cudaError_t cudaEventQuery(cudaEvent_t event) {
    return api("cudaEventQuery", [&] {
        const Event& asked = event_of(event);
        refuse_query(asked);
        const CompletionPtr recorded = asked.recorded();
        if (recorded != nullptr && !recorded->finished()) return cudaErrorNotReady;
        note_wait();
        return cudaSuccess;
    });
}

CUDART_CPU_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return api("cudaEventSynchronize", [&] {
        const Event& awaited = event_of(event);
        refuse_query(awaited);
        if (const CompletionPtr recorded = awaited.recorded()) {
            recorded->wait();
        }
    });
}

CUDART_CPU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return api("cudaEventElapsedTime", [&] {
        require_pointer(ms, "ms");
        refuse_time_query(event_of(start));
        refuse_time_query(event_of(end));
        const CompletionPtr first = timed_record_of(start);
        const CompletionPtr last = timed_record_of(end);
        if (!first->finished() || !last->finished()) {
            return cudaErrorNotReady;
        }
        *ms = std::chrono::duration<float, std::milli>(last->time() - first->time()).count();
        return cudaSuccess;
    });
}
