// cudaStreamAddCallback and cudaStreamAttachMemAsync.
#include "capture/capture_rules.hpp"
#include "memory/allocations.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

namespace {

struct Callback {
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void* user_data;
};

void CUDART_CB call_back(void* callback) {
    const auto& [function, stream, user_data] = *static_cast<const Callback*>(callback);
    function(stream, cudaSuccess, user_data);
}

} // namespace

CUDART_CPU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* user_data,
                                                 unsigned flags) {
    return api("cudaStreamAddCallback", [&] {
        Stream& target = stream_of(stream);
        require_pointer(reinterpret_cast<const void*>(function), "callback");
        if (flags != 0) fail(cudaErrorInvalidValue, text("the flags of a callback are ", flags, "; they must be 0"));
        refuse_capturing_now(target);
        enqueue(target, [callback = Callback{function, stream, user_data}]() mutable {
            run_host_function(call_back, &callback);
        });
    });
}

CUDART_CPU_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t length,
                                                    unsigned flags) {
    return api("cudaStreamAttachMemAsync", [&] {
        Stream& target = stream_of(stream);
        require_pointer(pointer, "devPtr");
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
            fail(cudaErrorInvalidValue, text("attach flags ", flags, " are none of global, host and single"));
        const std::optional<Range> range = find_live_allocation(pointer);
        if (!range || range->type != cudaMemoryTypeManaged)
            fail(cudaErrorInvalidValue, text(pointer, " is no managed memory"));
        if (length != 0 && length != range->bytes)
            fail(cudaErrorInvalidValue, text("length ", length, " is neither 0 nor the allocation's ", range->bytes));
        if (flags == cudaMemAttachSingle && is_legacy(target))
            fail(cudaErrorInvalidValue, "memory cannot be attached to the legacy default stream alone");
        refuse_capturing_now(target);
        enqueue(target, [] {}); // host and device always see the memory
    });
}
