// FrozenValueError: a replayed graph differs from the work that its function would do now.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/diff.hpp>
#include <cudag/error.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

/// Reports frozen values: a cache was about to replay a graph, but its function, captured again, records other work. So
/// the replay would use values of an earlier call. CaptureCacheOptions::verify and GraphedFunctionOptions::verify look
/// for them.
///
///     cudag::CaptureCache cache({.warm_up = 0, .verify = 1}); // verifies each hit
///     try {
///         for (const float factor : {2.0f, 3.0f}) // missing in the key
///             cache.run(stream, n, [&](cudaStream_t s) { cudag::launch(s, config, scale, x.data(), factor, n); });
///     } catch (const cudag::FrozenValueError& frozen) {
///         for (const cudag::Difference& difference : frozen.differences())
///             std::puts(to_string(difference).c_str()); // kernel (scale) at a.cpp:12: argument 1: 2 -> 3
///     }
///
/// Nothing was launched, and the graph stays in the cache: later calls with the values of the capture replay it.
/// `what()` lists the first ten differences and the remedies; `labels()` names the nodes, and `location()` is that of
/// the first one.
class CUDAG_EXPORT FrozenValueError : public Error {
  public:
    /// Makes the error; `differences` is the list below.
    FrozenValueError(detail::Passkey, const std::string& text, ErrorDetails details,
                     std::shared_ptr<const std::vector<Difference>> differences)
        : Error(cudaErrorInvalidValue, text, std::move(details)), differences_(std::move(differences)) {}

    /// Returns all differences: node, field, value in the kept graph, value now. Their handles are empty: the graphs
    /// are the cache's own.
    [[nodiscard]] const std::vector<Difference>& differences() const noexcept { return *differences_; }

  private:
    std::shared_ptr<const std::vector<Difference>> differences_;
};

} // namespace cudag
