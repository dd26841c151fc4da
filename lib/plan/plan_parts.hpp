// The parts of a plan that are on or off, by their names in texts.
#pragma once

#include <cudag/plan.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace cudag::detail {

inline constexpr std::array<std::pair<bool Plan::*, std::string_view>, 4> plan_parts{
    {{&Plan::reduce, "reduce"}, {&Plan::joins, "joins"}, {&Plan::ends, "ends"}, {&Plan::early, "early"}}};

/// Returns the parts of `plan` that are on, as "reduce, ends"; "none" if all are off.
[[nodiscard]] inline std::string parts_text(const Plan& plan) {
    std::string text;
    for (const auto& [part, name] : plan_parts)
        if (plan.*part) text.append(text.empty() ? "" : ", ").append(name);
    return text.empty() ? "none" : text;
}

} // namespace cudag::detail
