// capture_or_run(): a capture and a launch, or an eager run.
#include <cudag/capture_or_run.hpp>

#include "capture_attempt.hpp"
#include "cuda/observing.hpp"
#include "cuda/open_captures.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

CapturedOrRun<> capture_or_run(cudaStream_t stream, const StepsCall& function, const CaptureOrRunOptions& options,
                               const SourceLocation& location) {
    require_recorded(stream, [&] { return Subject{fmt::format("capture_or_run at {}", location), {}, location}; });
    const AttemptSetup setup{options.mode, options.refuse_legacy_stream, options.instantiate, location};
    CaptureAttempt attempt(stream, setup, [&](Steps& steps) {
        function.call(function.object, steps);
        return nullptr;
    });
    if (attempt.exec) {
        attempt.exec->launch(stream);
    } else if (attempt.segments) {
        attempt.segments->launch(stream);
    } else if (attempt.must_run()) {
        Steps steps(Passkey(), stream);
        function.call(function.object, steps);
    }
    if (attempt.error)
        observe([&] {
            const Error& error = *attempt.error;
            return ObservedFallback{"capture_or_run", error.labels().empty() ? std::string() : error.labels().front(),
                                    error.what(), location};
        });
    return {std::move(attempt.exec), std::move(attempt.segments), std::move(attempt.error)};
}

} // namespace cudag::detail
