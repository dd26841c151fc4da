// The model's numbers, and the oracle, which shares no code with the kernels.
#include "model.hpp"

#include <algorithm>
#include <random>

namespace decode {
namespace {

using Vector = std::vector<int>;

Matrix noise(std::mt19937& random, int rows, int columns) {
    Matrix matrix(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    for (std::int8_t& value : matrix) {
        value = static_cast<std::int8_t>(static_cast<int>(random() % 63) - 31);
    }
    return matrix;
}

int limited(int value) {
    return std::clamp(value, -127, 127);
}

Vector product(const Matrix& matrix, const Vector& in) {
    Vector out(matrix.size() / in.size());
    for (std::size_t row = 0; row < out.size(); ++row) {
        for (std::size_t column = 0; column < in.size(); ++column) {
            out[row] += matrix[row * in.size() + column] * in[column];
        }
    }
    return out;
}

/// The columns of one head.
struct Head {
    std::size_t begin;
    std::size_t end;
};

/// The mean of what was remembered, weighted by two to the power of how well the query fits the key.
void attend(const Vector& query, const std::vector<Vector>& keys, const std::vector<Vector>& values, Head head,
            Vector& out) {
    Vector sums(width);
    int sum_of_weights = 0;
    for (std::size_t position = 0; position < keys.size(); ++position) {
        int fit = 0;
        for (std::size_t i = head.begin; i < head.end; ++i) {
            fit += query[i] * keys[position][i];
        }
        const int weight = 1 << std::clamp(fit / 1024 + 6, 0, 12);
        sum_of_weights += weight;
        for (std::size_t i = head.begin; i < head.end; ++i) {
            sums[i] += weight * values[position][i];
        }
    }
    for (std::size_t i = head.begin; i < head.end; ++i) {
        out[i] = sums[i] / sum_of_weights;
    }
}

void add_product(Vector& x, const Matrix& matrix, const Vector& in) {
    const Vector change = product(matrix, in);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = limited((x[i] + limited(change[i] / 256)) * 3 / 4);
    }
}

/// What one layer remembers.
struct Memory {
    std::vector<Vector> keys;
    std::vector<Vector> values;
};

void run_layer(const Layer& layer, Memory& memory, Vector& x) {
    Vector all = product(layer.queries_keys_values, x);
    std::transform(all.begin(), all.end(), all.begin(), [](int sum) { return limited(sum / 128); });
    const Vector query(all.begin(), all.begin() + width);
    memory.keys.emplace_back(all.begin() + width, all.begin() + 2 * width);
    memory.values.emplace_back(all.begin() + 2 * width, all.end());

    Vector attended(width);
    for (std::size_t head = 0; head < heads; ++head) {
        attend(query, memory.keys, memory.values, {head * head_width, (head + 1) * head_width}, attended);
    }
    add_product(x, layer.out, attended);

    Vector inner = product(layer.up, x);
    std::transform(inner.begin(), inner.end(), inner.begin(), [](int sum) { return limited(std::max(sum, 0) / 512); });
    add_product(x, layer.down, inner);
}

} // namespace

Model make_model(unsigned seed) {
    std::mt19937 random(seed);
    Model model;
    model.tokens = noise(random, vocabulary, width);
    model.positions = noise(random, max_positions, width);
    for (int i = 0; i < layers; ++i) {
        Layer& layer = model.layers.emplace_back();
        layer.queries_keys_values = noise(random, 3 * width, width);
        layer.out = noise(random, width, width);
        layer.up = noise(random, hidden, width);
        layer.down = noise(random, width, hidden);
    }
    model.logits = noise(random, vocabulary, width);
    return model;
}

Decoded decode_on_host(const Model& model, int first_token, int steps) {
    Decoded result{{first_token}, {}, {}};
    std::vector<Memory> memories(model.layers.size());
    for (std::size_t position = 0; position < static_cast<std::size_t>(steps); ++position) {
        const auto token = static_cast<std::size_t>(result.tokens.back());
        Vector x(width);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = 2 * model.tokens[token * width + i] + model.positions[position * width + i];
        }
        for (std::size_t i = 0; i < model.layers.size(); ++i) {
            run_layer(model.layers[i], memories[i], x);
        }
        const Vector logits = product(model.logits, x);
        const auto best = std::max_element(logits.begin(), logits.end()); // the first of equal ones
        result.tokens.push_back(static_cast<int>(best - logits.begin()));
    }
    for (const Memory& memory : memories) {
        for (std::size_t position = 0; position < memory.keys.size(); ++position) {
            result.keys.insert(result.keys.end(), memory.keys[position].begin(), memory.keys[position].end());
            result.values.insert(result.values.end(), memory.values[position].begin(), memory.values[position].end());
        }
    }
    return result;
}

} // namespace decode
