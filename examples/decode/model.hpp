// A toy language model in integers: what a real decoder does per token, small enough to follow, and exact, so that
// every way of running it gives the same tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace decode {

inline constexpr int vocabulary = 256;
inline constexpr int width = 64; ///< of the activations, which are integers from -127 to 127
inline constexpr int heads = 4;
inline constexpr int head_width = width / heads;
inline constexpr int hidden = 128; ///< width inside a layer's network
inline constexpr int layers = 4;
inline constexpr int max_positions = 256;

/// Matrices are stored row by row, a row for each output.
using Matrix = std::vector<std::int8_t>;

struct Layer {
    Matrix queries_keys_values; ///< 3 * width rows of width: the queries' first
    Matrix out;                 ///< width rows of width
    Matrix up;                  ///< hidden rows of width
    Matrix down;                ///< width rows of hidden
};

struct Model {
    Matrix tokens;    ///< what stands for each token: vocabulary rows of width
    Matrix positions; ///< what stands for each position: max_positions rows of width
    std::vector<Layer> layers;
    Matrix logits; ///< vocabulary rows of width
};

/// A model of noise; every seed is another one.
Model make_model(unsigned seed);

/// What a model remembers and says.
struct Decoded {
    std::vector<int> tokens; ///< the first one given, then one for each step
    std::vector<int> keys;   ///< of every layer, position and column
    std::vector<int> values;
    friend bool operator==(const Decoded&, const Decoded&) = default;
};

/// `steps` steps in plain C++, straight from the definitions.
Decoded decode_on_host(const Model& model, int first_token, int steps);

} // namespace decode
