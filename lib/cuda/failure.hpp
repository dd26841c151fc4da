// The checked-call seam: turns a failed CUDA call into an exception with CUDA's log text, and clears the last error.
#pragma once

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cudag::detail {

/// The subject of a call, its labels and location: "kernel \"scale\" at a.cu:12".
struct Subject {
    std::string text = {};
    std::vector<std::string> labels = {};
    SourceLocation where = {};
};

/// `text`, with \\0 for each NUL, which would end `what()` and DOT output.
[[nodiscard]] std::string without_nul(std::string_view text);

/// The API of a call: only the runtime's sets the last error.
enum class Api { runtime, driver };

/// Whether `code` is in cudaErrorStreamCaptureUnsupported (900) to cudaErrorStreamCaptureWrongThread (908).
[[nodiscard]] constexpr bool is_about_capture(cudaError_t code) noexcept {
    return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
}

/// The remedy for a failure of `operation`, if the name of the code does not suggest it; "" otherwise.
[[nodiscard]] const char* hint(cudaError_t status, std::string_view operation) noexcept;

/// Text and details of a failed CUDA call. `describe_failure` reads CUDA's log, and clears the last error of the call.
struct CallFailure {
    std::string text;
    ErrorDetails details;
};
[[nodiscard]] CallFailure describe_failure(cudaError_t status, const char* operation, Subject&& subject, Api api);

/// Throws E; if E is Error and a capture is the reason, CaptureError.
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

/// Throws E if `status`, returned by the call to `operation`, is not success.
template <class E = Error>
void checked(cudaError_t status, const char* operation) {
    if (status != cudaSuccess) [[unlikely]]
        raise_call<E>(status, operation);
}

/// Ignores a failure without new information: keeps it out of the caller's last error.
inline void ignore(cudaError_t status) noexcept {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

/// Prints the failure of `operation`, a call in a destructor: see `report_release`.
void report_unreleased(cudaError_t status, const char* operation) noexcept;

/// The seam for destroying, freeing and resetting calls in destructors: reports a failure by a line on stderr, since
/// nobody can catch it, and keeps it out of the caller's last error. Does not report:
/// - failures because CUDA or its context has ended: then everything fails, and is gone anyway;
/// - codes of earlier failed work, which every later call returns;
/// - a code equal to that of the last reported failure.
inline void report_release(cudaError_t status, const char* operation) noexcept {
    if (status != cudaSuccess) [[unlikely]]
        report_unreleased(status, operation);
}

/// Throws E for a rejection by cudag itself: "cudag: <subject>: <reason>".
template <class E = GraphError>
[[noreturn]] void refuse(const std::string& reason, Subject subject = {}, cudaError_t code = cudaErrorInvalidValue) {
    std::string text = subject.text.empty() ? "cudag: " : "cudag: " + subject.text + ": ";
    throw E(code, text + reason, {{}, {}, std::move(subject.labels), subject.where});
}

} // namespace cudag::detail
