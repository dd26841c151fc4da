// What one seed did, in words: kept in memory that outlives a crash, and printed when the seed fails.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

/// Of one process that runs seeds; lies in memory shared with the one that waits for it.
struct Report {
    static constexpr std::size_t capacity = std::size_t{1} << 20U;

    std::atomic<std::uint64_t> seed;
    std::atomic<std::uint64_t> next; ///< the seed to go on with after a crash
    std::atomic<std::uint64_t> seeds_done;
    std::atomic<std::uint64_t> launches;
    std::atomic<std::uint64_t> faults;
    std::atomic<std::uint64_t> refused; ///< graphs that were refused, as they had to be
    std::atomic<std::uint64_t> failures;
    std::atomic<std::size_t> length;
    char text[capacity];
};

/// Of this process.
extern Report* report;

/// Adds a line to the report, without an allocation of its own.
template <class... A>
void note(fmt::format_string<A...> format, A&&... arguments) {
    const std::size_t used = report->length;
    if (used + 2 >= Report::capacity) return;
    const auto end =
        fmt::format_to_n(report->text + used, Report::capacity - used - 2, format, std::forward<A>(arguments)...);
    std::size_t length = static_cast<std::size_t>(end.out - report->text);
    report->text[length++] = '\n';
    report->length = length;
}

/// That cudag, or what a graph computed, is not as it should be.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class... A>
[[noreturn]] void wrong(fmt::format_string<A...> format, A&&... arguments) {
    throw Wrong(fmt::format(format, std::forward<A>(arguments)...));
}

template <class... A>
void require(bool condition, fmt::format_string<A...> format, A&&... arguments) {
    if (!condition) wrong(format, std::forward<A>(arguments)...);
}
