// Medians, ratios, and their two forms.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <stdexcept>

namespace bench {

namespace {

double ratio(const Comparison& row) {
    return median(row.cudag) / median(row.raw);
}

void print_table(const std::string& title, const std::vector<Comparison>& rows) {
    std::printf("%s\n%-44s %12s %12s %8s %8s\n", title.c_str(), "median of each, microseconds", "raw", "cudag", "ratio",
                "goal");
    for (const Comparison& row : rows) {
        std::printf("%-44s %12.3f %12.3f %8.3g", row.name.c_str(), median(row.raw), median(row.cudag), ratio(row));
        if (row.goal > 0) std::printf(" %8.3g", row.goal);
        std::printf("\n");
    }
}

void write_json(const std::string& path, const std::string& title, const std::vector<Comparison>& rows) {
    std::ofstream file(path);
    file << std::setprecision(6) << "{\"title\": \"" << title << "\", \"unit\": \"us\", \"rows\": [";
    const char* separator = "\n";
    for (const Comparison& row : rows) {
        file << separator << "  {\"name\": \"" << row.name << "\", \"raw\": " << median(row.raw)
             << ", \"cudag\": " << median(row.cudag) << ", \"ratio\": " << ratio(row) << ", \"goal\": ";
        if (row.goal > 0)
            file << row.goal;
        else
            file << "null";
        file << ", \"samples\": " << row.raw.size() << '}';
        separator = ",\n";
    }
    file << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

} // namespace

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Estimate estimate(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t quarter = (values.size() - 1) / 4;
    Estimate result{values[values.size() / 2], values[quarter], values[values.size() - 1 - quarter], 0};
    result.error = 0.93 * (result.high - result.low) / std::sqrt(static_cast<double>(values.size()));
    return result;
}

bool exceeds(const Estimate& a, double factor, const Estimate& b) {
    return a.median - factor * b.median > 2 * std::hypot(a.error, factor * b.error);
}

void report(const std::string& title, const std::vector<Comparison>& rows, const std::string& json_file) {
    print_table(title, rows);
    if (!json_file.empty()) write_json(json_file, title, rows);
}

bool meets_goals(const std::vector<Comparison>& rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [](const Comparison& row) { return row.goal == 0 || ratio(row) <= row.goal; });
}

} // namespace bench
