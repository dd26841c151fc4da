// Blocks of kernels joined in each way: what they were measured to cost.
#pragma once

#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace bench {

enum Form { edges, kernel, node };
inline constexpr std::array forms{edges, kernel, node};
inline constexpr const char* form_names[] = {"edges", "kernel", "node"};

/// Microseconds of a graph.
struct JoinCosts {
    std::vector<Estimate> gpu;  ///< by duration of kernels
    std::vector<Estimate> call; ///< likewise
    Estimate instantiate;
};

/// Blocks of one size, many in a graph.
struct JoinPoint {
    bool alone; ///< forked from one kernel and joined in one; else each block ends where the next one begins
    unsigned in;
    unsigned out;
    std::array<JoinCosts, forms.size()> costs = {};

    [[nodiscard]] unsigned blocks() const {
        return alone ? std::clamp(600 / (1 + in + out), 10U, 50U) : std::clamp(600 / (in + out) * 2, 10U, 100U);
    }
    [[nodiscard]] double per_block(const Estimate& of) const { return of.median / blocks(); }
};

/// Prints costs fitted to the points, how well simple rules choose between edges and a kernel, and both as C++.
/// `durations`: microseconds of a kernel, as in the costs.
void print_join_rules(const std::vector<JoinPoint>& points, const std::vector<int>& durations);

} // namespace bench
