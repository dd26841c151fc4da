// cudaStream*, cudaLaunchHostFunc.
#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_event_work.hpp"
#include "graph/graph_host_work.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/text.hpp"
#include "submit/event_submit.hpp"

#include <algorithm>

using namespace cudart_cpu::detail;

namespace {

cudaStream_t create_checked(cudaStream_t* stream, unsigned flags, int priority) {
    require_pointer(stream, "pStream");
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) {
        fail(cudaErrorInvalidValue, text("stream flags ", flags, " are neither default nor non-blocking"));
    }
    return create_stream(flags, std::clamp(priority, greatest_stream_priority, least_stream_priority));
}

/// Returns the event to wait for. As in CUDA, an invalid event breaks the stream's capture here, but not in a record.
const Event& awaited_event(cudaEvent_t handle, const Stream& waiting) {
    try {
        return event_of(handle);
    } catch (const Failure&) {
        invalidate_capture_of(waiting);
        throw;
    }
}

} // namespace

CUDART_CPU_API cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return api("cudaStreamCreate", [&] { *stream = create_checked(stream, cudaStreamDefault, 0); });
}

CUDART_CPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return api("cudaStreamCreateWithFlags", [&] { *stream = create_checked(stream, flags, 0); });
}

CUDART_CPU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    return api("cudaStreamCreateWithPriority", [&] { *stream = create_checked(stream, flags, priority); });
}

CUDART_CPU_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return api("cudaStreamDestroy", [&] { destroy_stream(stream); });
}

CUDART_CPU_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    return api("cudaStreamGetFlags", [&] {
        require_pointer(flags, "flags");
        const Stream& asked = stream_of(stream);
        refuse_capturing_now(asked);
        *flags = asked.flags();
    });
}

CUDART_CPU_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    return api("cudaStreamGetPriority", [&] {
        require_pointer(priority, "priority");
        const Stream& asked = stream_of(stream);
        refuse_implicit_dependency_now(asked);
        *priority = asked.priority();
    });
}

CUDART_CPU_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
    return api("cudaStreamGetId", [&] {
        require_pointer(id, "streamId");
        const Stream& asked = stream_of(stream);
        refuse_capturing_now(asked);
        *id = asked.id();
    });
}

CUDART_CPU_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
    return api("cudaStreamGetDevice", [&] {
        require_driver(12080);
        require_pointer(device, "device");
        const Stream& asked = stream_of(stream);
        refuse_capturing_now(asked);
        *device = asked.device();
    });
}

CUDART_CPU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return api("cudaStreamSynchronize", [&] {
        const Stream& awaited = stream_of(stream);
        refuse_query(awaited);
        wait_for(awaited);
    });
}

CUDART_CPU_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return api("cudaStreamQuery", [&] {
        const Stream& asked = stream_of(stream);
        refuse_query(asked);
        if (!idle(asked)) return cudaErrorNotReady;
        note_wait();
        return cudaSuccess;
    });
}

CUDART_CPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    return api("cudaStreamWaitEvent", [&] {
        Stream& waiting = stream_of(stream);
        const Event& awaited = awaited_event(event, waiting);
        if (flags == cudaEventWaitExternal) {
            if (!captured(waiting, [&](auto&&...) { return std::make_shared<EventWaitWork>(event); })) {
                fail(cudaErrorIllegalState, {});
            }
            return;
        }
        if (flags != cudaEventWaitDefault) {
            fail(cudaErrorInvalidValue, text("event wait flags ", flags, " are unknown"));
        }
        wait(waiting, awaited);
    });
}

CUDART_CPU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
    return api("cudaLaunchHostFunc", [&] {
        require_pointer(reinterpret_cast<const void*>(function), "fn");
        Stream& target = stream_of(stream);
        if (captured(target, [&](auto&&...) {
                return std::make_shared<HostWork>(cudaHostNodeParams{function, user_data});
            })) {
            return;
        }
        enqueue(target, [=] { run_host_function(function, user_data); });
    });
}
