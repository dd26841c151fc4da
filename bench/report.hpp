// Pairs of timings, raw Runtime API against cudag, as a table and as JSON.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bench {

/// Microseconds that `work()` takes.
template <class Work>
double microseconds(Work&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    return taken.count();
}

/// One operation, measured both ways in turns so that drift of the machine meets both alike.
struct Comparison {
    std::string name;
    double goal; ///< the ratio cudag / raw to stay below; 0: none
    std::vector<double> raw;
    std::vector<double> cudag;
};

/// Runs `raw` and `cudag` in turns that alternate, and notes what each returns: its microseconds.
template <class Raw, class Cudag>
void compare(Comparison& row, int round, Raw&& raw, Cudag&& cudag) {
    if (round % 2 == 0) row.raw.push_back(raw());
    row.cudag.push_back(cudag());
    if (round % 2 != 0) row.raw.push_back(raw());
}

/// Calls `round(number)` `count` times, after a few that `rows` forget.
template <class Round>
void rounds(int count, const std::vector<Comparison*>& rows, Round&& round) {
    constexpr int warm_up = 5;
    for (int i = -warm_up; i < count; ++i) {
        if (i == 0)
            for (Comparison* row : rows)
                row->raw.clear(), row->cudag.clear();
        round(i);
    }
}

/// The median; `values` must not be empty.
[[nodiscard]] double median(std::vector<double> values);

/// A median, and how sure it is.
struct Estimate {
    double median = 0;
    double low = 0;   ///< the lower quartile
    double high = 0;  ///< the upper one
    double error = 0; ///< the standard error of the median, as of values that are normally distributed
};

/// `values` must not be empty.
[[nodiscard]] Estimate estimate(std::vector<double> values);
/// Whether `a` is more than `factor` times `b` by more than chance: two standard errors.
[[nodiscard]] bool exceeds(const Estimate& a, double factor, const Estimate& b);

/// Prints medians, ratio and goal of each row, and writes the same to `json_file` unless that is empty.
/// Throws std::runtime_error if it cannot be written.
void report(const std::string& title, const std::vector<Comparison>& rows, const std::string& json_file);
/// Whether every ratio is at or below its goal.
[[nodiscard]] bool meets_goals(const std::vector<Comparison>& rows);

} // namespace bench
