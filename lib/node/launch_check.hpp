// Diagnosis of a launch rejected by CUDA with a bare "invalid argument".
#pragma once

#include "cuda/failure.hpp"

#include <cudag/launch_config.hpp>

#include <string>

namespace cudag::detail {

/// The limit of the current device that `config` breaks, with both values and the remedy; empty if none is broken.
[[nodiscard]] std::string broken_limit(const LaunchConfig& config, const void* symbol);

/// Throws E for a launch of `symbol` (null: unknown) rejected by `operation` with `status`.
template <class E>
[[noreturn]] void raise_launch(cudaError_t status, const char* operation, Subject&& subject, Api api,
                               const LaunchConfig& config, const void* symbol) {
    CallFailure failure = describe_failure(status, operation, Subject(subject), api);
    if (status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration)
        if (const std::string reason = broken_limit(config, symbol); !reason.empty())
            failure.text = "cudag: " + subject.text + ": " + reason;
    raise<E>(status, failure.text, std::move(failure.details));
}

} // namespace cudag::detail
