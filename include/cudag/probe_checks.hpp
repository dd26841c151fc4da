// Ready checks for probes: no_nan, all_finite, in_range, checksum, print.
#pragma once

#include <cudag/config.hpp>
#include <cudag/probe_failure.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

[[nodiscard]] CUDAG_EXPORT std::string number_text(float value);
[[nodiscard]] CUDAG_EXPORT std::string number_text(double value);
[[nodiscard]] CUDAG_EXPORT std::string bytes_text(const void* value, std::size_t bytes);
[[nodiscard]] CUDAG_EXPORT std::uint64_t checksum_of_bytes(const void* values, std::size_t bytes) noexcept;
CUDAG_EXPORT void print_probe(std::FILE* file, const ProbeRun& run, std::size_t elements,
                              const std::vector<std::string>& first);
/// Throws GraphError.
[[noreturn]] CUDAG_EXPORT void refuse_range(const std::string& low, const std::string& high);

/// An element comparable as a number: an arithmetic one, or one like __half, which converts to float.
template <class Element>
concept ProbeNumber = std::is_arithmetic_v<Element> || requires(const Element& value) { static_cast<float>(value); };

/// Returns the value for comparisons: CUDA's short floating-point types become float.
template <ProbeNumber Element>
auto number_of(const Element& value) noexcept {
    if constexpr (std::is_arithmetic_v<Element>)
        return value;
    else
        return static_cast<float>(value);
}

/// Returns the text of one element.
template <class Element>
std::string element_text(const Element& value) {
    if constexpr (std::is_same_v<Element, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_integral_v<Element>)
        return std::to_string(value);
    else if constexpr (std::is_same_v<Element, float>)
        return number_text(value);
    else if constexpr (std::is_floating_point_v<Element>)
        return number_text(static_cast<double>(value));
    else if constexpr (std::is_enum_v<Element>)
        return std::to_string(static_cast<std::underlying_type_t<Element>>(value));
    else if constexpr (ProbeNumber<Element>)
        return number_text(static_cast<float>(value));
    else
        return bytes_text(&value, sizeof value);
}

/// Compares two numbers by value, also signed with unsigned ones. False if one is not a number.
template <class Left, class Right>
bool is_at_most(const Left& left, const Right& right) noexcept {
    constexpr bool integers = std::integral<Left> && std::integral<Right> && !std::is_same_v<Left, bool> &&
                              !std::is_same_v<Right, bool> && !std::is_same_v<Left, char> &&
                              !std::is_same_v<Right, char>;
    if constexpr (std::is_same_v<Left, Right>)
        return left <= right;
    else if constexpr (integers)
        return std::cmp_less_equal(left, right);
    else
        return static_cast<double>(left) <= static_cast<double>(right);
}

/// Returns a finding for the first element for which `is_right` is false.
template <class Element, class IsRight>
std::optional<ProbeFinding> first_wrong(std::span<const Element> values, const char* problem, const IsRight& is_right) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (!is_right(number_of(values[i]))) return ProbeFinding{i, element_text(values[i]), problem};
    return {};
}

struct NoNan {
    template <ProbeNumber Element>
    std::optional<ProbeFinding> operator()(std::span<const Element> values) const {
        return first_wrong(values, "is not a number", [](auto value) { return value == value; });
    }
};

struct Finite {
    template <ProbeNumber Element>
    std::optional<ProbeFinding> operator()(std::span<const Element> values) const {
        return first_wrong(values, "is not finite", [](auto value) {
            if constexpr (std::is_floating_point_v<decltype(value)>)
                return std::isfinite(value);
            else
                return true;
        });
    }
};

template <class Bound>
struct InRange {
    Bound low, high;
    std::string problem;
    template <ProbeNumber Element>
    std::optional<ProbeFinding> operator()(std::span<const Element> values) const {
        return first_wrong(values, problem.c_str(),
                           [&](auto value) { return is_at_most(low, value) && is_at_most(value, high); });
    }
};

template <class Receiver>
struct Checksum {
    Receiver receiver;
    template <class Element>
    void operator()(std::span<const Element> values, const ProbeRun& run) {
        const std::uint64_t sum = checksum_of_bytes(values.data(), values.size_bytes());
        if constexpr (std::is_invocable_v<Receiver&, std::uint64_t, const ProbeRun&>)
            receiver(sum, run);
        else
            receiver(sum);
    }
};

struct Print {
    std::size_t count;
    std::FILE* file;
    template <class Element>
    void operator()(std::span<const Element> values, const ProbeRun& run) const {
        std::vector<std::string> texts;
        for (const Element& value : values.first(count < values.size() ? count : values.size()))
            texts.push_back(element_text(value));
        print_probe(file, run, values.size(), texts);
    }
};

} // namespace detail

// The checks below are for numbers: arithmetic elements, and types that convert to float, as CUDA's __half does.

/// Fails if an element is NaN.
inline constexpr detail::NoNan no_nan{};
/// Fails if an element is NaN or an infinity.
inline constexpr detail::Finite all_finite{};

/// Returns a check that fails if an element is less than `low` or greater than `high`, or NaN. Throws GraphError if
/// `low` is greater than `high`, or one of them is NaN.
///
///     cudag::probe(b, x, cudag::in_range(0.0f, 1.0f)).label("probabilities");
template <class Bound>
requires std::is_arithmetic_v<Bound>
[[nodiscard]] auto in_range(Bound low, Bound high) { // cudag: in_range(low, high) takes two numbers of one type
    if (!(low <= high)) detail::refuse_range(detail::element_text(low), detail::element_text(high));
    return detail::InRange<Bound>{low, high,
                                  "is not in [" + detail::element_text(low) + ", " + detail::element_text(high) + "]"};
}

/// Returns a check that never fails, and gives the checksum of all elements to `receiver(sum)` or `receiver(sum, run)`
/// in each launch, on a thread of CUDA. `checksum_of` gives the same sum of the same bytes.
///
///     std::vector<std::uint64_t> sums;
///     cudag::probe(b, x, cudag::checksum([&](std::uint64_t sum) { sums.push_back(sum); }));
template <class Receiver>
requires std::is_invocable_v<std::decay_t<Receiver>&, std::uint64_t> ||
         std::is_invocable_v<std::decay_t<Receiver>&, std::uint64_t, const ProbeRun&>
[[nodiscard]] auto checksum( // cudag: checksum(receiver) calls receiver(std::uint64_t), or (std::uint64_t, ProbeRun)
    Receiver&& receiver) {
    return detail::Checksum<std::decay_t<Receiver>>{std::forward<Receiver>(receiver)};
}

/// Returns the checksum of the bytes of `values`, padding included. Equal bytes have equal sums on all machines of one
/// byte order; different ones differ but for one case in 2^64.
template <class Element, std::size_t Extent>
[[nodiscard]] std::uint64_t checksum_of(std::span<Element, Extent> values) noexcept {
    return detail::checksum_of_bytes(values.data(), values.size_bytes());
}

/// Returns a check that never fails, and prints the first `count` elements in each launch, as one line.
///
///     cudag::probe(b, x, cudag::print(4)).label("norm"); // probe "norm" at a.cpp:12, run 1: 1000 elements: 1, 1, ...
[[nodiscard]] inline detail::Print print(std::size_t count, std::FILE* file = stdout) noexcept {
    return {count, file};
}

} // namespace cudag
