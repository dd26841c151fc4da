// The numbers that all ranks begin with, and the training in plain C++, of all ranks at once.
#pragma once

#include <cstddef>
#include <vector>

namespace data_parallel {

struct Problem {
    int ranks = 1;
    int layers = 8;
    int width = 128;
    int batch = 16;      ///< samples of each rank
    float rate = 0.002f; ///< larger ones amplify the rounding of sums in another order

    [[nodiscard]] std::size_t layer_size() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
    }
    [[nodiscard]] std::size_t batch_size() const {
        return static_cast<std::size_t>(batch) * static_cast<std::size_t>(width);
    }
};

/// The weights before the first step: equal on all ranks.
[[nodiscard]] std::vector<float> first_weights(const Problem& problem);
/// The inputs and targets of one rank.
[[nodiscard]] std::vector<float> inputs(const Problem& problem, int rank);
[[nodiscard]] std::vector<float> targets(const Problem& problem, int rank);

/// Returns the weights after some steps with the samples of all ranks.
[[nodiscard]] std::vector<float> oracle(const Problem& problem, int steps);

} // namespace data_parallel
