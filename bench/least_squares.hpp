// Fits sums of terms to measurements.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace bench {

/// Finds N coefficients with which the sum of the terms comes close to each value, in proportion to the value.
template <std::size_t N>
class LeastSquares {
  public:
    void add(std::array<double, N> terms, double value) {
        for (double& term : terms)
            term /= value;
        for (std::size_t i = 0; i < N; ++i) {
            for (std::size_t k = 0; k < N; ++k)
                rows_[i][k] += terms[i] * terms[k];
            rows_[i][N] += terms[i];
        }
    }

    /// Of at least N values whose terms are not alike.
    [[nodiscard]] std::array<double, N> solve() const {
        auto rows = rows_;
        for (std::size_t i = 0; i < N; ++i) {
            std::size_t largest = i;
            for (std::size_t k = i + 1; k < N; ++k)
                if (std::abs(rows[k][i]) > std::abs(rows[largest][i])) largest = k;
            std::swap(rows[i], rows[largest]);
            for (std::size_t k = 0; k < N; ++k) {
                if (k == i) continue;
                const double factor = rows[k][i] / rows[i][i];
                for (std::size_t column = i; column <= N; ++column)
                    rows[k][column] -= factor * rows[i][column];
            }
        }
        std::array<double, N> result;
        for (std::size_t i = 0; i < N; ++i)
            result[i] = rows[i][N] / rows[i][i];
        return result;
    }

  private:
    std::array<std::array<double, N + 1>, N> rows_{};
};

} // namespace bench
