#include "data.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace data_parallel {
namespace {

/// The same numbers everywhere: a uniform_real_distribution may differ between libraries.
std::vector<float> numbers(std::size_t count, unsigned seed, float from, float to) {
    std::mt19937 random(seed);
    std::vector<float> list(count);
    for (float& number : list)
        number = from + (to - from) * static_cast<float>(random() % 65536) / 65536.0f;
    return list;
}

} // namespace

std::vector<float> first_weights(const Problem& problem) {
    const float bound = std::sqrt(6.0f / static_cast<float>(problem.width));
    return numbers(problem.layer_size() * static_cast<std::size_t>(problem.layers), 1, -bound, bound);
}

std::vector<float> inputs(const Problem& problem, int rank) {
    return numbers(problem.batch_size(), 2 + 2 * static_cast<unsigned>(rank), 0, 1);
}

std::vector<float> targets(const Problem& problem, int rank) {
    return numbers(problem.batch_size(), 3 + 2 * static_cast<unsigned>(rank), 0, 1);
}

std::vector<float> oracle(const Problem& problem, int steps) {
    const auto width = static_cast<std::size_t>(problem.width);
    const std::size_t samples = static_cast<std::size_t>(problem.batch) * static_cast<std::size_t>(problem.ranks);
    const auto layers = static_cast<std::size_t>(problem.layers);
    std::vector<float> in, target;
    for (int rank = 0; rank < problem.ranks; ++rank) {
        const std::vector<float> more_in = inputs(problem, rank), more_targets = targets(problem, rank);
        in.insert(in.end(), more_in.begin(), more_in.end());
        target.insert(target.end(), more_targets.begin(), more_targets.end());
    }
    std::vector<float> weights = first_weights(problem);
    for (int step = 0; step < steps; ++step) {
        std::vector<std::vector<float>> values{in};
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const float* const w = weights.data() + layer * width * width;
            std::vector<float> out(samples * width);
            for (std::size_t i = 0; i < out.size(); ++i) {
                float sum = 0;
                for (std::size_t k = 0; k < width; ++k)
                    sum += values.back()[i / width * width + k] * w[k * width + i % width];
                out[i] = layer + 1 < layers ? std::max(sum, 0.0f) : sum;
            }
            values.push_back(std::move(out));
        }
        std::vector<float> error(samples * width);
        for (std::size_t i = 0; i < error.size(); ++i)
            error[i] = (values.back()[i] - target[i]) / static_cast<float>(samples);
        for (std::size_t layer = layers; layer-- > 0;) {
            float* const w = weights.data() + layer * width * width;
            const std::vector<float>& before = values[layer];
            std::vector<float> next(error.size());
            for (std::size_t i = 0; i < next.size(); ++i) {
                float sum = 0;
                for (std::size_t k = 0; k < width; ++k)
                    sum += error[i / width * width + k] * w[i % width * width + k];
                next[i] = before[i] > 0.0f ? sum : 0.0f;
            }
            for (std::size_t i = 0; i < width * width; ++i) {
                float sum = 0;
                for (std::size_t sample = 0; sample < samples; ++sample)
                    sum += before[sample * width + i / width] * error[sample * width + i % width];
                w[i] -= problem.rate * sum;
            }
            error.swap(next);
        }
    }
    return weights;
}

} // namespace data_parallel
