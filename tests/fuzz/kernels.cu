// The kernels of fuzzed graphs.
#include "kernels.hpp"

#include <cudag/wait_for_previous.hpp>

namespace {

__device__ bool is_first() {
    return blockIdx.x == 0 && threadIdx.x == 0;
}
__device__ unsigned shape() {
    return gridDim.x * 256 + blockDim.x;
}

} // namespace

__global__ void fuzz_mix(std::uint32_t* words, unsigned own, Inputs inputs, std::uint32_t salt) {
    cudag::wait_for_previous();
    if (is_first()) mix_work(words, own, inputs, salt, shape());
}

__global__ void fuzz_add(std::uint32_t* words, unsigned own, unsigned input, std::uint32_t salt) {
    cudag::wait_for_previous();
    if (is_first()) add_work(words, own, input, salt, shape());
}

__global__ void fuzz_real(float* words, unsigned own, unsigned input, float salt) {
    cudag::wait_for_previous();
    if (is_first()) real_work(words, own, input, salt, shape());
}

__global__ void fuzz_wide(std::uint32_t* words, unsigned own, Wide wide) {
    cudag::let_next_start();
    cudag::wait_for_previous();
    if (is_first()) wide_work(words, own, wide, shape());
}

__global__ void fuzz_set(std::uint32_t* words, unsigned own, Inputs inputs, std::uint32_t salt,
                         cudag::Condition condition, unsigned limit) {
    condition.set(set_work(words, own, inputs, salt, limit));
}

__global__ void fuzz_count(std::uint32_t* words, unsigned own, std::uint32_t salt, cudag::Condition condition,
                           unsigned limit) {
    condition.set(count_work(words, own, salt, limit));
}

__global__ void fuzz_write(std::uint32_t* to, unsigned count, std::uint32_t value) {
    for (unsigned i = 0; i < count; ++i)
        to[i] = value + i;
}

__global__ void fuzz_read(std::uint32_t* out, const std::uint32_t* from, const std::uint32_t* other, unsigned count,
                          std::uint32_t salt) {
    std::uint32_t hash = salt;
    hash = hash * 31 + from[0];
    hash = hash * 31 + from[count - 1];
    hash = hash * 31 + other[0];
    hash = hash * 31 + other[count - 1];
    *out = hash;
}

__global__ void fuzz_combine(std::uint32_t* to, unsigned to_count, const std::uint32_t* a, unsigned a_count,
                             const std::uint32_t* b, unsigned b_count, std::uint32_t salt) {
    combine_work(to, to_count, a, a_count, b, b_count, salt);
}

__global__ void fuzz_accumulate(std::uint32_t* to, unsigned count, std::uint32_t value) {
    for (unsigned i = 0; i < count; ++i)
        atomicAdd(to + i, value + i);
}

__global__ void fuzz_decide(std::uint32_t* to, unsigned to_count, const std::uint32_t* from, unsigned from_count,
                            std::uint32_t salt, cudag::Condition condition, unsigned limit) {
    condition.set(decision_of(combine_work(to, to_count, from, from_count, from, 0, salt), limit));
}

__global__ void fuzz_items(std::uint32_t* to, unsigned to_elements, const std::uint32_t* from, unsigned from_elements,
                           unsigned items, const unsigned* valid, std::uint32_t salt) {
    items_work(to, to_elements, from, from_elements, valid == nullptr ? items : *valid, salt);
}

__global__ void fuzz_fold(std::uint32_t* to, const std::uint32_t* from, unsigned count, const unsigned* valid,
                          unsigned elements, std::uint32_t salt) {
    *to = fold_work(from, valid == nullptr ? count : *valid * elements, salt);
}
