// The kernels of fuzzed graphs: the first thread works, and notes how many threads there are.
#pragma once

#include "work.hpp"

#include <cudag/condition.hpp>

__global__ void fuzz_mix(std::uint32_t* words, unsigned own, Inputs inputs, std::uint32_t salt);
__global__ void fuzz_add(std::uint32_t* words, unsigned own, unsigned input, std::uint32_t salt);
__global__ void fuzz_real(float* words, unsigned own, unsigned input, float salt);
__global__ void fuzz_wide(std::uint32_t* words, unsigned own, Wide wide);
__global__ void fuzz_set(std::uint32_t* words, unsigned own, Inputs inputs, std::uint32_t salt,
                         cudag::Condition condition, unsigned limit);
__global__ void fuzz_count(std::uint32_t* words, unsigned own, std::uint32_t salt, cudag::Condition condition,
                           unsigned limit);
/// to[i] = value + i, for i < count
__global__ void fuzz_write(std::uint32_t* to, unsigned count, std::uint32_t value);
/// The hash of `salt` and of the first and the last of `count` words of each.
__global__ void fuzz_read(std::uint32_t* out, const std::uint32_t* from, const std::uint32_t* other, unsigned count,
                          std::uint32_t salt);
/// combine_work.
__global__ void fuzz_combine(std::uint32_t* to, unsigned to_count, const std::uint32_t* a, unsigned a_count,
                             const std::uint32_t* b, unsigned b_count, std::uint32_t salt);
/// to[i] += value + i, atomically, for i < count
__global__ void fuzz_accumulate(std::uint32_t* to, unsigned count, std::uint32_t value);
/// items_work, of `*valid` items if that is not null.
__global__ void fuzz_items(std::uint32_t* to, unsigned to_elements, const std::uint32_t* from, unsigned from_elements,
                           unsigned items, const unsigned* valid, std::uint32_t salt);
/// *to = fold_work, of `*valid` items of `elements` words if `valid` is not null.
__global__ void fuzz_fold(std::uint32_t* to, const std::uint32_t* from, unsigned count, const unsigned* valid,
                          unsigned elements, std::uint32_t salt);
/// The same as fuzz_combine of one input, and sets `condition` to a number less than `limit`.
__global__ void fuzz_decide(std::uint32_t* to, unsigned to_count, const std::uint32_t* from, unsigned from_count,
                            std::uint32_t salt, cudag::Condition condition, unsigned limit);
