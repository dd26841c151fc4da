// The checked-call seam: turns a failed CUDA call into an exception with CUDA's log text, and clears the last error.
#pragma once

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cudag::detail {

/// What a call was about: "kernel \"scale\" at a.cu:12", its labels and where it was made.
struct Subject {
    std::string text = {};
    std::vector<std::string> labels = {};
    SourceLocation where = {};
};

/// `text`, with \\0 for each NUL: `what()` would end there, and so would DOT.
[[nodiscard]] std::string without_nul(std::string_view text);

/// Which API a call belongs to: only the runtime's sets the last error.
enum class Api { runtime, driver };

/// cudaErrorStreamCaptureUnsupported (900) to cudaErrorStreamCaptureWrongThread (908).
[[nodiscard]] constexpr bool is_about_capture(cudaError_t code) noexcept {
    return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
}

/// What to do about the codes whose names do not say it, with which `operation` has failed; "" for the others.
[[nodiscard]] const char* hint(cudaError_t status, std::string_view operation) noexcept;

/// Text and details of a failed CUDA call. Reads CUDA's log, and clears the last error that the call set.
struct CallFailure {
    std::string text;
    ErrorDetails details;
};
[[nodiscard]] CallFailure describe_failure(cudaError_t status, const char* operation, Subject&& subject, Api api);

/// Throws E, or, where that is Error itself, CaptureError if a capture is the reason.
template <class E>
[[noreturn]] void raise(cudaError_t status, const std::string& text, ErrorDetails details) {
    if constexpr (std::is_same_v<E, Error>)
        if (is_about_capture(status)) throw CaptureError(status, text, std::move(details));
    throw E(status, text, std::move(details));
}

/// Throws E, or CaptureError as `raise` does, for the failed call `operation`.
template <class E>
[[noreturn]] void raise_call(cudaError_t status, const char* operation, Subject subject = {}, Api api = Api::runtime) {
    CallFailure failure = describe_failure(status, operation, std::move(subject), api);
    raise<E>(status, failure.text, std::move(failure.details));
}

/// Throws E if `status`, what the call to `operation` returned, is not success.
template <class E = Error>
void checked(cudaError_t status, const char* operation) {
    if (status != cudaSuccess) [[unlikely]]
        raise_call<E>(status, operation);
}

/// For calls whose failure says nothing new: keeps it out of the caller's last error.
inline void ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Prints the failure of `operation`, a call in a destructor: see `report_release`.
void report_unreleased(cudaError_t status, const char* operation) noexcept;

/// The seam of the calls that destroy, free or set back, in destructors, whose failure nobody can catch: a line on
/// stderr tells it. Not if CUDA itself is ending, or without its context: then everything fails, and is gone anyway;
/// not if the code is that of work that failed before, which every call returns from then on; and not again where the
/// last failure that was told had the same code. Keeps it out of the caller's last error.
inline void report_release(cudaError_t status, const char* operation) noexcept {
    if (status != cudaSuccess) [[unlikely]]
        report_unreleased(status, operation);
}

/// Throws E because cudag itself refuses: "cudag: <subject>: <reason>".
template <class E = GraphError>
[[noreturn]] void refuse(const std::string& reason, Subject subject = {}, cudaError_t code = cudaErrorInvalidValue) {
    std::string text = subject.text.empty() ? "cudag: " : "cudag: " + subject.text + ": ";
    throw E(code, text + reason, {{}, {}, std::move(subject.labels), subject.where});
}

} // namespace cudag::detail
