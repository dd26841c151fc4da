// DeviceScalar: memsets carry its values, in streams and in graphs.
#include <cudag/device_scalar.hpp>

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/open_captures.hpp"
#include "owners/capture_owners.hpp"
#include "owners/host_call.hpp"
#include "owners/reclaim.hpp"

#include <cudag/format.hpp>
#include <cudag/launch.hpp>

#include <cstring>
#include <vector>

namespace cudag::detail {

namespace {

Subject scalar_subject(const char* call, const SourceLocation& where) {
    return {fmt::format("DeviceScalar::{} at {}", call, where), {}, where};
}

void require_scalar(const ScalarPlace& scalar, const char* call) {
    if (scalar.memory == nullptr) refuse<Error>("the scalar was moved from", scalar_subject(call, scalar.where));
}

cudaStreamCaptureStatus capture_status(cudaStream_t stream, const char* call, const SourceLocation& where) {
    cudaStreamCaptureStatus capture{};
    const cudaError_t status = compat::stream_get_capture_info(stream, &capture, nullptr, nullptr);
    if (status != cudaSuccess)
        raise_call<CaptureError>(status, "cudaStreamGetCaptureInfo", scalar_subject(call, where));
    return capture;
}

/// Returns the value as memsets to `memory`: equal neighbours share one.
std::vector<SetParams> fills_of(const ScalarPlace& scalar, const void* value, std::byte* memory) {
    const std::size_t element_bytes = scalar.bytes % 4 == 0 ? 4 : scalar.bytes % 2 == 0 ? 2 : 1;
    const auto* const bytes = static_cast<const std::byte*>(value);
    std::vector<SetParams> fills;
    for (std::size_t at = 0; at < scalar.bytes;) {
        const std::byte* const element = bytes + at;
        std::size_t end = at + element_bytes;
        while (end < scalar.bytes && std::memcmp(bytes + end, element, element_bytes) == 0)
            end += element_bytes;
        SetParams& set = fills.emplace_back();
        set = {memory + at, (end - at) / element_bytes, static_cast<unsigned>(element_bytes), 0};
        std::memcpy(&set.value, element, element_bytes);
        at = end;
    }
    return fills;
}

} // namespace

std::shared_ptr<void> make_scalar(std::size_t bytes, const void* value, const SourceLocation& where) {
    auto memory = allocate_device(2, bytes, where); // the scalar, and room to assemble values of several fills
    const Stream stream;                            // its own: the user's may be captured
    set_scalar(stream.get(), {memory, bytes, where}, value);
    checked(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    return memory;
}

void set_scalar(cudaStream_t stream, const ScalarPlace& scalar, const void* value) {
    require_scalar(scalar, "set");
    const cudaStreamCaptureStatus capture = capture_status(stream, "set", scalar.where);
    require_recorded(stream, [&] { return scalar_subject("set", scalar.where); });
    if (capture == cudaStreamCaptureStatusActive) keep_with_capture(stream, {{0, 0, scalar.memory}});
    auto* const memory = static_cast<std::byte*>(scalar.memory.get());
    const std::vector<SetParams> fills = fills_of(scalar, value, memory);
    if (fills.size() == 1) return set_async(stream, fills.front(), {}, scalar.where);
    std::byte* const whole = memory + scalar.bytes; // a failed fill then leaves the scalar unchanged
    for (const SetParams& fill : fills_of(scalar, value, whole))
        set_async(stream, fill, {}, scalar.where);
    const cudaError_t status = cudaMemcpyAsync(memory, whole, scalar.bytes, cudaMemcpyDeviceToDevice, stream);
    if (status != cudaSuccess) raise_call<Error>(status, "cudaMemcpyAsync", scalar_subject("set", scalar.where));
}

void get_scalar(cudaStream_t stream, const ScalarPlace& scalar, void* value) {
    const auto subject = [&] { return scalar_subject("get", scalar.where); };
    require_scalar(scalar, "get");
    if (capture_status(stream, "get", scalar.where) != cudaStreamCaptureStatusNone)
        refuse<CaptureError>("the stream is captured, its work has not run; call get() after the graph's launch, or "
                             "capture a memcpy to a PinnedBuffer",
                             subject(), cudaErrorStreamCaptureUnsupported);
    if (const cudaError_t status =
            cudaMemcpyAsync(value, scalar.memory.get(), scalar.bytes, cudaMemcpyDeviceToHost, stream);
        status != cudaSuccess)
        raise_call<Error>(status, "cudaMemcpyAsync", subject());
    if (const cudaError_t status = cudaStreamSynchronize(stream); status != cudaSuccess)
        raise_call<Error>(status, "cudaStreamSynchronize", subject());
    reclaim();
    rethrow_host_failures(stream);
}

} // namespace cudag::detail
