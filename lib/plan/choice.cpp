// The choice among several plans by measured times.
#include "choice.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace cudag::detail {

namespace {

constexpr double least_gain = 0.02; ///< device clocks tick, and launch times vary with an Exec's place in memory

double median_of(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

} // namespace

TuneTime summary_of(std::vector<double> samples) {
    const double median = median_of(samples);
    for (double& sample : samples)
        sample = std::abs(sample - median);
    return {median, median_of(samples)};
}

bool is_clearly_less(const TuneTime& a, const TuneTime& b) noexcept {
    return b.median - a.median > std::max(a.spread + b.spread, least_gain * b.median);
}

std::size_t choose(std::span<const TuneTime> times) noexcept {
    std::size_t least = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
        if (is_clearly_less(times[i], times[0]) && (least == 0 || times[i].median < times[least].median)) least = i;
    for (std::size_t i = 1; i < least; ++i)
        if (is_clearly_less(times[i], times[0]) && !is_clearly_less(times[least], times[i])) return i;
    return least;
}

bool can_become_choice(const TuneTime& a, const TuneTime& chosen, bool is_before) noexcept {
    // A few samples may happen to be close together: their spread counts as 1 % at least.
    const auto spread_of = [](const TuneTime& time) { return std::max(time.spread, 0.01 * time.median); };
    const double least = a.median - 3 * (spread_of(a) + spread_of(chosen));
    return least < (is_before ? 1 + least_gain : 1 - least_gain) * chosen.median;
}

std::string name_of(const Plan& plan) {
    const std::pair<bool, std::string_view> parts[] = {
        {plan.reduce, "reduce"}, {plan.joins, "joins"}, {plan.ends, "ends"}};
    std::string name;
    if (plan.reduce && plan.joins && plan.ends) {
        name = "default";
    } else {
        for (const auto& [is_on, part] : parts)
            if (is_on) name.append(name.empty() ? "" : " + ").append(part);
        if (name.empty()) name = "as written";
    }
    if (plan.lanes != 0) name += ", " + std::to_string(plan.lanes) + (plan.lanes == 1 ? " lane" : " lanes");
    if (!plan.durations.empty()) name += ", by durations";
    if (plan.launches != Plan().launches)
        name += ", for " + std::to_string(plan.launches) + (plan.launches == 1 ? " launch" : " launches");
    return name;
}

} // namespace cudag::detail
