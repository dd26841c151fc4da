// Which of several plans is chosen by what was measured of them.
#pragma once

#include <cudag/tune_report.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

/// What `samples`, of which there is at least one, say.
[[nodiscard]] TuneTime summary_of(std::vector<double> samples);

/// Whether `a` is shorter than `b` by more than both spreads together, and by 2 % of `b`.
[[nodiscard]] bool is_clearly_less(const TuneTime& a, const TuneTime& b) noexcept;

/// The index of the first, unless others are clearly less: then of the first of these than which the least of them is
/// not clearly less. There is at least one time.
[[nodiscard]] std::size_t choose(std::span<const TuneTime> times) noexcept;

/// "default", "as written", "reduce + joins", "default, 4 lanes, by durations".
[[nodiscard]] std::string name_of(const Plan& plan);

} // namespace cudag::detail
