// The kernels of the decoder; one thread computes one number. See model.hpp for the sizes.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "model.hpp"

namespace decode {

/// x = what stands for the token at `position`, and for the position.
__global__ void embed(const int* tokens, const std::int8_t* token_table, const std::int8_t* position_table, int* x,
                      int position);

/// The query of a layer, and the key and the value to remember, in the rows of `position`.
__global__ void project(const int* x, const std::int8_t* matrix, int* query, int* keys, int* values, int position);

/// How much each position up to `position` counts for each head: `heads` rows of `max_positions`.
__global__ void weigh(const int* query, const int* keys, int* weights, int position);

/// The weighted means of the values up to `position`.
__global__ void mix(const int* weights, const int* values, int* out, int position);

/// x changes by the product of `matrix` and `in`, a vector of `columns`.
__global__ void add_product(const int* in, const std::int8_t* matrix, int* x, int columns);

/// The first half of a layer's network.
__global__ void expand(const int* x, const std::int8_t* matrix, int* out);

/// `best` becomes the largest of itself and of a key for each token: more likely ones have larger keys.
__global__ void rate(const int* x, const std::int8_t* matrix, unsigned long long* best);

/// Writes the token of `best` behind `position`, and clears `best`. One thread.
__global__ void pick(unsigned long long* best, int* tokens, int position);

} // namespace decode
