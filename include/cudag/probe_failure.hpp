// ProbeFailure and ProbeError: what probes have found.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/error.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudag {

/// A finding of a check: the first wrong element.
struct ProbeFinding {
    std::size_t index = 0; ///< of the element
    std::string value{};   ///< its text
    std::string problem{}; ///< "is not a number"
    bool has_index = true; ///< false: the finding is about all values, and `problem` is a sentence of its own
};

/// One run of a probe, as seen by its check.
struct ProbeRun {
    std::string_view label;  ///< "" without one
    SourceLocation location; ///< of the call of `probe`
    std::uint64_t number;    ///< counted from 1, over all launches with this probe enabled
};

/// A run of a probe with a failed check.
struct ProbeFailure {
    std::string label{};
    SourceLocation location{}; ///< of the call of `probe`
    std::uint64_t run = 0;     ///< number of the run, from 1
    std::size_t index = 0;     ///< of the first wrong element; 0 if the check tells none
    std::string value{};       ///< text of that element; empty if the check tells none
    std::string text{};        ///< "probe \"norm\" at a.cpp:12, run 3: element 7 is nan, not a number"
};

/// The consequence of a failed check, besides its record.
enum class OnProbeFailure {
    raise,  ///< the next synchronisation through cudag throws HostError with a nested ProbeError, as for any host node
    record, ///< none: `Probe::failures` and `Probe::check` report it
};

/// The options of `probe`.
struct ProbeOptions {
    OnProbeFailure on_failure = OnProbeFailure::raise;
};

/// Reports failed checks of a probe: `failures()` are the first ones, at least one.
///
///     cudag::Probe norm = cudag::probe(b, x, cudag::no_nan, {.on_failure = cudag::OnProbeFailure::record});
///     graph = std::move(b).build();
///     exec = graph.instantiate();
///     exec.launch(stream);
///     stream.synchronize();
///     try {
///         norm.check();
///     } catch (const cudag::ProbeError& error) {
///         std::puts(error.what()); // label, run, and the first wrong element
///     }
class CUDAG_EXPORT ProbeError : public Error {
  public:
    /// Makes the error from `failures`, at least one.
    ProbeError(detail::Passkey, std::vector<ProbeFailure> failures);

    [[nodiscard]] const std::vector<ProbeFailure>& failures() const noexcept { return *failures_; }

  private:
    std::shared_ptr<const std::vector<ProbeFailure>> failures_;
};

} // namespace cudag
