// The right side, and the oracle, which shares no code with the kernels.
#include "problem.hpp"

#include <algorithm>
#include <cmath>

namespace jacobi {

std::size_t field_size(const Problem& problem) {
    const auto row = static_cast<std::size_t>(problem.side) + 2;
    return row * row;
}

std::vector<float> right_side(const Problem& problem) {
    const auto row = static_cast<std::size_t>(problem.side) + 2;
    const double step = 1.0 / static_cast<double>(problem.side + 1);
    const auto bump = [](double x, double y, double centre_x, double centre_y) {
        return std::exp(-50.0 * ((x - centre_x) * (x - centre_x) + (y - centre_y) * (y - centre_y)));
    };
    std::vector<float> field(field_size(problem));
    for (std::size_t y = 1; y + 1 < row; ++y) {
        for (std::size_t x = 1; x + 1 < row; ++x) {
            const double at_x = static_cast<double>(x) * step;
            const double at_y = static_cast<double>(y) * step;
            const double value = 20.0 * bump(at_x, at_y, 0.5, 0.5) - 10.0 * bump(at_x, at_y, 0.8, 0.3);
            field[y * row + x] = static_cast<float>(step * step * value);
        }
    }
    return field;
}

Solution solve_on_host(const Problem& problem) {
    const auto row = static_cast<std::size_t>(problem.side) + 2;
    const std::vector<float> added = right_side(problem);
    Solution solution{std::vector<float>(added.size()), 0, 0.0f};
    std::vector<float> next = solution.values;
    do {
        const std::vector<float>& now = solution.values;
        solution.change = 0.0f;
        for (std::size_t y = 1; y + 1 < row; ++y) {
            for (std::size_t x = 1; x + 1 < row; ++x) {
                const std::size_t i = y * row + x;
                next[i] = (now[i - row] + now[i - 1] + now[i + 1] + now[i + row] + added[i]) / 4.0f;
                solution.change = std::max(solution.change, std::abs(next[i] - now[i]));
            }
        }
        std::swap(solution.values, next);
        ++solution.sweeps;
    } while (solution.change > problem.tolerance && solution.sweeps < problem.max_sweeps);
    return solution;
}

} // namespace jacobi
