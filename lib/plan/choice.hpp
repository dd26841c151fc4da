// The choice among several plans by measured times.
#pragma once

#include <cudag/tune_report.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

/// The median and spread of `samples`; at least one sample is required.
[[nodiscard]] TuneTime summary_of(std::vector<double> samples);

/// Whether `a` is shorter than `b` by more than both spreads together, and by 2 % of `b`.
[[nodiscard]] bool is_clearly_less(const TuneTime& a, const TuneTime& b) noexcept;

/// The index of the first time, unless others are clearly less: then the first of these not clearly longer than the
/// shortest. At least one time is required.
[[nodiscard]] std::size_t choose(std::span<const TuneTime> times) noexcept;

/// Whether a candidate with time `a` may still be chosen instead of the chosen one, with time `chosen`, after more
/// samples of both. `is_before`: it precedes the chosen one, and then need not be clearly less.
[[nodiscard]] bool can_become_choice(const TuneTime& a, const TuneTime& chosen, bool is_before) noexcept;

/// A readable name: "default", "as written", "reduce + joins", "default, 4 lanes, by durations".
[[nodiscard]] std::string name_of(const Plan& plan);

} // namespace cudag::detail
