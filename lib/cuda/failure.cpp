// Descriptions of failed CUDA calls.
#include "failure.hpp"

#include "cuda_log.hpp"
#include "memory_holders.hpp"
#include "observing.hpp"
#include "released_memory.hpp"
#include "unfinished.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>

namespace cudag::detail {

namespace {

/// The alternative to a call forbidden during captures, by its name in the runtime or the driver.
const char* instead_of(std::string_view operation) noexcept {
    const auto is = [&](std::string_view word) { return operation.find(word) != std::string_view::npos; };
    if (is("CtxSynchronize") || is("DeviceSynchronize"))
        return "a wait for the whole device breaks the captures of all its streams, whichever thread waits, in every "
               "mode: wait for streams or events instead, or keep other threads from waiting meanwhile";
    if (is("Synchronize") || is("Query"))
        return "a stream that is being captured runs nothing, so it cannot be waited for, nor can others meanwhile: "
               "wait before the capture, or after the launch of the graph; where a wait for another stream has nothing "
               "to do with the captured work, allow it with ThreadCaptureMode or CaptureMode::relaxed";
    if (is("alloc") || is("Alloc"))
        return "calls that are not recorded, such as cudaMalloc, are forbidden while a stream is being captured: "
               "allocate before the capture, take memory from a CapturePool, or allow the call with ThreadCaptureMode "
               "or CaptureMode::relaxed where it is safe";
    if (is("GraphLaunch"))
        return "a capture takes no launch of a graph in any mode: instantiate an Exec with {.capturable = true}, and "
               "its launch records its nodes, or make the graph a child node";
    return "a stream that is being captured runs nothing, so it cannot be waited for, and calls that are not recorded, "
           "such as cudaMalloc, are forbidden meanwhile: move the call out of the capture, take memory from a "
           "CapturePool, or allow the call with ThreadCaptureMode or CaptureMode::relaxed where it is safe";
}

/// The explanation if CUDA reports no driver or no device, but cudag's own runtime disagrees: a statically linked
/// runtime serves the program, or a library, but not cudag. Empty if both agree.
std::string about_another_runtime(cudaError_t status) {
    if (status != cudaErrorInsufficientDriver && status != cudaErrorNoDevice) return {};
    int devices = 0;
    const cudaError_t own = cudaGetDeviceCount(&devices);
    ignore(own);
    if (own == status) return {};
    std::string text = fmt::format("; the CUDA runtime that cudag calls answers {}: this is of another one, so there "
                                   "are two CUDA runtimes in one process, as where libcudart_static.a is linked first; "
                                   "link only the one that cudag_dep brings",
                                   cudaGetErrorName(own));
    if (const std::string log = take_cuda_log(own); !log.empty()) text += fmt::format("; CUDA's log: {}", log);
    return text;
}

/// The nodes that a fault has left unfinished; empty if no exec is recorded.
std::string about_unfinished(std::vector<std::string>& labels) {
    const auto nodes = list_unfinished();
    return nodes ? describe_unfinished(*nodes, labels) : std::string();
}

/// CUDA rejects nodes, updates and instantiations with released memory by a bare "invalid argument".
std::string about_released() {
    std::string text;
    for (const auto& pool : released_pools())
        text += fmt::format("{}{}", text.empty() ? "; if this uses released memory, call restore() first: of " : ", ",
                            pool->name);
    return text;
}

} // namespace

const char* hint(cudaError_t status, std::string_view operation) noexcept {
    switch (status) {
    case cudaErrorInsufficientDriver:
        return "no NVIDIA driver is loaded, or it is older than this CUDA runtime: install or update the driver";
    case cudaErrorNoDevice:
        return "no CUDA device is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case cudaErrorInvalidResourceHandle:
        if (operation.find("EventRecord") != std::string_view::npos)
            return "an event is recorded in streams of the device that was current when it was made: make it while the "
                   "stream's device is current (cudaSetDevice)";
        [[fallthrough]];
    case cudaErrorInvalidDeviceFunction:
        return "if this is about a kernel: it must be a __global__ function, compiled for this GPU, in objects linked "
               "to "
               "the same shared cudart as cudag (cudag_dep brings it)";
    case cudaErrorNoKernelImageForDevice:
        return "the kernel was not compiled for this GPU: set the cuda-arch option or nvcc's -arch";
    case cudaErrorNotPermitted:
        return "CUDA must not be called from a host node or a stream callback";
    case cudaErrorInvalidValue:
        if (operation == "cudaEventSynchronize" || operation == "cudaEventQuery" ||
            operation == "cudaEventElapsedTime" || operation == "cudaStreamWaitEvent")
            return "if the event was last recorded in a capture, which has ended, it marks nothing: for an event that "
                   "each launch of the graph marks, record it by capture.record(event) instead of Event::record "
                   "(StreamCapture::record, cudaEventRecordExternal)";
        return "";
    case cudaErrorStreamCaptureUnsupported:
        return instead_of(operation);
    case cudaErrorStreamCaptureInvalidated:
        return "an earlier call broke this capture: record it in steps (StreamCapture::step) to learn which; it may be "
               "another thread's cudaDeviceSynchronize, which breaks captures in every mode";
    case cudaErrorStreamCaptureMerge:
        return "an event would have joined two captures: capture both streams in one, with fork and join";
    case cudaErrorStreamCaptureUnmatched:
        return "the capture began in another stream: it ends where it began";
    case cudaErrorStreamCaptureUnjoined:
        return "a stream that forked from the captured one has work that nothing waits for: join it before the end";
    case cudaErrorStreamCaptureIsolation:
        return "the captured work would have waited for work outside the capture: wait for that before the capture "
               "begins or before the launch, or make the wait external (StreamCapture::wait, cudaEventWaitExternal)";
    case cudaErrorStreamCaptureImplicit:
        return "the legacy default stream waits for every blocking stream, so it cannot be used while one is captured: "
               "give the call the stream that is captured, or capture a non-blocking one without refuse_legacy_stream";
    case cudaErrorCapturedEvent:
        return "the event was last recorded in a capture, so it marks a place in a graph and is never reached itself: "
               "record it again outside, or, for an event that each launch of the graph marks anew, by "
               "capture.record(event) instead of Event::record (StreamCapture::record, cudaEventRecordExternal)";
    case cudaErrorStreamCaptureWrongThread:
        return "a capture ends on the thread that began it: end it there, or begin it with CaptureMode::relaxed";
    default:
        return "";
    }
}

std::string without_nul(std::string_view text) {
    std::string shown;
    for (const char c : text)
        if (c == '\0')
            shown += "\\0";
        else
            shown += c;
    return shown;
}

CallFailure describe_failure(cudaError_t status, const char* operation, Subject&& subject, Api api) {
    if (api == Api::runtime) static_cast<void>(cudaGetLastError()); // first: the rest may run out of memory
    std::string log = take_cuda_log(status);
    std::string text = fmt::format("cudag: {}{}{}: {} ({})", subject.text, subject.text.empty() ? "" : ": ", operation,
                                   cudaGetErrorString(status), cudaGetErrorName(status));
    if (!log.empty()) text += fmt::format("; CUDA's log: {}", log);
    if (const std::string other = about_another_runtime(status); !other.empty())
        text += other;
    else if (const char* advice = hint(status, operation); *advice != '\0')
        text += fmt::format("; {}", advice);
    if (is_fault(status)) text += about_unfinished(subject.labels);
    if (status == cudaErrorMemoryAllocation) text += describe_holders();
    if (status == cudaErrorInvalidValue) text += about_released();
    return {std::move(text), {operation, std::move(log), std::move(subject.labels), subject.where}};
}

namespace {

/// Whether a code concerns all calls: CUDA ends, or a kernel has ended the context.
bool is_about_all_calls(cudaError_t status) noexcept {
    return status == cudaErrorCudartUnloading || status == cudaErrorContextIsDestroyed ||
           status == cudaErrorIllegalAddress || status == cudaErrorLaunchTimeout || status == cudaErrorAssert ||
           (status >= cudaErrorHardwareStackError && status <= cudaErrorLaunchFailure);
}

} // namespace

void report_unreleased(cudaError_t status, const char* operation) noexcept {
    static std::atomic<cudaError_t> last = cudaSuccess;
    ignore(status); // first: the rest may run out of memory
    if (is_about_all_calls(status)) return;
    const bool is_printed = last.exchange(status, std::memory_order_relaxed) == status;
    if (is_printed && !is_observed()) return;
    try {
        const CallFailure failure = describe_failure(status, operation, {"in a destructor"}, Api::driver);
        if (!is_printed) std::fprintf(stderr, "%s\n", failure.text.c_str());
        observe([&] { return ObservedFailure{failure.text}; });
    } catch (...) {
        std::fprintf(stderr, "cudag: in a destructor: %s failed\n", operation);
    }
}

} // namespace cudag::detail
