// What graphs of one shape cost, made in several ways: as a table and as JSON.
#pragma once

#include "report.hpp"

#include <string>
#include <vector>

namespace bench {

/// One operation, measured for each way in turns. The last way is the one that is judged, by its ratio to each other.
struct PlanRow {
    std::string shape;
    int duration; ///< of a kernel, microseconds
    std::string metric;
    double goal; ///< the ratio to stay below; 0: none
    std::vector<Estimate> ways;

    [[nodiscard]] double ratio(std::size_t to) const { return ways.back().median / ways[to].median; }
    /// By more than chance.
    [[nodiscard]] bool misses_goal(std::size_t to) const { return goal > 0 && exceeds(ways.back(), goal, ways[to]); }
};

/// `names`: of the ways, the first of them the plain Runtime API.
void print_plan_header(const std::vector<std::string>& names);
void print_plan_row(const PlanRow& row);
/// Prints how many rows miss their goals; whether none does.
bool print_plan_summary(const std::vector<PlanRow>& rows);
/// Throws std::runtime_error if the file cannot be written.
void write_plan_rows(const std::string& path, const std::vector<std::string>& names, const std::vector<PlanRow>& rows);

} // namespace bench
