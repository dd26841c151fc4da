// Medians, ratios, and their two forms.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

double ratio(const Comparison& row) {
    return median(row.cudag) / median(row.raw);
}

} // namespace

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void print_table(const std::string& title, const std::vector<Comparison>& rows) {
    fmt::print("{}\n{:<34} {:>12} {:>12} {:>8} {:>8}\n", title, "median of each, microseconds", "raw", "cudag", "ratio",
               "goal");
    for (const Comparison& row : rows)
        fmt::print("{:<34} {:>12.3f} {:>12.3f} {:>8.3f} {:>8}\n", row.name, median(row.raw), median(row.cudag),
                   ratio(row), row.goal > 0 ? fmt::format("{:.2f}", row.goal) : "");
}

void write_json(const std::string& path, const std::string& title, const std::vector<Comparison>& rows) {
    std::ofstream file(path);
    file << fmt::format("{{\"title\": \"{}\", \"unit\": \"us\", \"rows\": [", title);
    const char* separator = "\n";
    for (const Comparison& row : rows) {
        file << separator
             << fmt::format(
                    R"(  {{"name": "{}", "raw": {:.4f}, "cudag": {:.4f}, "ratio": {:.4f}, "goal": {}, "samples": {}}})",
                    row.name, median(row.raw), median(row.cudag), ratio(row),
                    row.goal > 0 ? fmt::format("{:.2f}", row.goal) : "null", row.raw.size());
        separator = ",\n";
    }
    file << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

bool meets_goals(const std::vector<Comparison>& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [](const Comparison& row) { return row.goal == 0 || ratio(row) <= row.goal; });
}

} // namespace bench
