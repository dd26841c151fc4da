// The table and the JSON of rows of plans.
#include "plan_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

bool misses_goal(const PlanRow& row) {
    for (std::size_t to = 0; to + 1 < row.ways.size(); ++to)
        if (row.misses_goal(to)) return true;
    return false;
}

} // namespace

void print_plan_header(const std::vector<std::string>& names) {
    std::printf("microseconds: median (quartiles); a ratio with ! misses its goal by more than chance\n%-30s %6s %-19s",
                "shape", "kernel", "");
    for (const std::string& name : names)
        std::printf(" %31s", name.c_str());
    for (std::size_t to = 0; to + 1 < names.size(); ++to)
        std::printf(" %18s", (names.back() + " / " + names[to]).c_str());
    std::printf(" %7s\n", "goal");
}

void print_plan_row(const PlanRow& row) {
    std::printf("%-30s %3d us %-19s", row.shape.c_str(), row.duration, row.metric.c_str());
    for (const Estimate& way : row.ways)
        std::printf(" %11.2f (%8.2f-%8.2f)", way.median, way.low, way.high);
    for (std::size_t to = 0; to + 1 < row.ways.size(); ++to)
        std::printf(" %17.3f%c", row.ratio(to), row.misses_goal(to) ? '!' : ' ');
    if (row.goal > 0) std::printf(" %7.3f", row.goal);
    std::printf("\n");
    std::fflush(stdout);
}

bool print_plan_summary(const std::vector<PlanRow>& rows) {
    const auto missed = std::count_if(rows.begin(), rows.end(), misses_goal);
    const auto with_goal = std::count_if(rows.begin(), rows.end(), [](const PlanRow& row) { return row.goal > 0; });
    std::printf("%td of %td rows with a goal miss it\n", missed, with_goal);
    return missed == 0;
}

void write_plan_rows(const std::string& path, const std::vector<std::string>& names, const std::vector<PlanRow>& rows) {
    std::ofstream file(path);
    file << "{\"title\": \"graphs by shape\", \"unit\": \"us\", \"rows\": [";
    for (const PlanRow& row : rows) {
        file << (&row == &rows.front() ? "\n" : ",\n") << "  {\"shape\": \"" << row.shape
             << "\", \"duration\": " << row.duration << ", \"metric\": \"" << row.metric << "\", \"goal\": ";
        if (row.goal > 0)
            file << row.goal;
        else
            file << "null";
        for (std::size_t i = 0; i < names.size(); ++i)
            file << ", \"" << names[i] << "\": [" << row.ways[i].low << ", " << row.ways[i].median << ", "
                 << row.ways[i].high << ']';
        file << '}';
    }
    file << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

} // namespace bench
