// The equation to solve, and what a solution is.
#pragma once

#include <cstddef>
#include <vector>

namespace jacobi {

/// Minus the second derivatives of u are a bump in the middle of a square and a dip beside it; u is 0 on its border.
/// Jacobi's method repeats a sweep, which sets every value to the mean of its neighbours and the right side, until no
/// value changes by more than `tolerance`, or `max_sweeps` times.
struct Problem {
    int side = 64; ///< values in a row, without the border
    float tolerance = 1e-5f;
    unsigned max_sweeps = 100'000;
};

/// The elements of a field with its border.
std::size_t field_size(const Problem& problem);

/// What is added to the sum of the four neighbours.
std::vector<float> right_side(const Problem& problem);

struct Solution {
    std::vector<float> values; ///< with the border
    unsigned sweeps = 0;
    float change = 0; ///< the largest one in the last sweep
    friend bool operator==(const Solution&, const Solution&) = default;
};

/// The solution in plain C++. That of the kernels is equal bit by bit: the sums have one order, and the products are
/// exact.
Solution solve_on_host(const Problem& problem);

} // namespace jacobi
