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

/// The median; `values` must not be empty.
[[nodiscard]] double median(std::vector<double> values);

/// Prints medians, ratio and goal of each row.
void print_table(const std::string& title, const std::vector<Comparison>& rows);
/// Writes the same as JSON. Throws std::runtime_error if `path` cannot be written.
void write_json(const std::string& path, const std::string& title, const std::vector<Comparison>& rows);
/// Whether every ratio is at or below its goal.
[[nodiscard]] bool meets_goals(const std::vector<Comparison>& rows);

} // namespace bench
