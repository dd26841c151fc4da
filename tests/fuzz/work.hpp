// What the nodes of a fuzzed graph compute: the same code in kernels, in host nodes and in the oracle.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

/// Every step writes an area of its own, of so many words, and reads areas of others.
constexpr unsigned area_words = 8;

/// The areas that a node reads.
struct Inputs {
    static constexpr unsigned capacity = 3;
    unsigned count;
    unsigned areas[capacity];
};

/// A kernel's argument of more bytes than those of other kernels.
struct Wide {
    static constexpr unsigned size = 24;
    std::uint32_t values[size];
};

/// Depends on what the area held before, so that a node that runs twice is noticed.
inline __host__ __device__ std::uint32_t hash_of(const std::uint32_t* words, unsigned own, const Inputs& inputs,
                                                 std::uint32_t salt) {
    std::uint32_t hash = salt * 2654435761U + words[own * area_words];
    for (unsigned i = 0; i < inputs.count; ++i) {
        const std::uint32_t* const area = words + inputs.areas[i] * area_words;
        hash = hash * 31 + area[0];
        hash = hash * 31 + area[4];
    }
    return hash;
}

inline __host__ __device__ void mix_work(std::uint32_t* words, unsigned own, const Inputs& inputs, std::uint32_t salt,
                                         unsigned shape) {
    const std::uint32_t hash = hash_of(words, own, inputs, salt);
    words[own * area_words] = hash;
    words[own * area_words + 1] = shape;
    words[own * area_words + 4] = ~hash;
}

inline __host__ __device__ void add_work(std::uint32_t* words, unsigned own, unsigned input, std::uint32_t salt,
                                         unsigned shape) {
    words[own * area_words] += words[input * area_words] + salt;
    words[own * area_words + 1] = shape;
}

/// The same bytes of arguments as add_work's, of other types.
inline __host__ __device__ void real_work(float* words, unsigned own, unsigned input, float salt, unsigned shape) {
    words[own * area_words] = salt + static_cast<float>(input);
    const auto bits = static_cast<float>(shape);
    words[own * area_words + 4] = bits;
}

inline __host__ __device__ void wide_work(std::uint32_t* words, unsigned own, const Wide& wide, unsigned shape) {
    std::uint32_t hash = words[own * area_words];
    for (unsigned i = 0; i < Wide::size; ++i)
        hash = hash * 31 + wide.values[i];
    words[own * area_words] = hash;
    words[own * area_words + 1] = shape;
}

/// The next value of a condition, less than `limit`.
inline __host__ __device__ unsigned set_work(std::uint32_t* words, unsigned own, const Inputs& inputs,
                                             std::uint32_t salt, unsigned limit) {
    mix_work(words, own, inputs, salt, 0);
    return (words[own * area_words] >> 7U) % limit;
}

/// Counts turns of a loop: whether there are more, which there are not after `limit` turns at most.
inline __host__ __device__ unsigned count_work(std::uint32_t* words, unsigned own, std::uint32_t salt, unsigned limit) {
    words[own * area_words] += salt;
    words[own * area_words + 4] += 1;
    return words[own * area_words + 4] % limit != 0 ? 1 : 0;
}

/// Reads all of `a` and `b`, and of `to` before it writes all of that. Returns what it has written to the first word.
inline __host__ __device__ std::uint32_t combine_work(std::uint32_t* to, unsigned to_count, const std::uint32_t* a,
                                                      unsigned a_count, const std::uint32_t* b, unsigned b_count,
                                                      std::uint32_t salt) {
    std::uint32_t hash = salt * 2654435761U;
    for (unsigned i = 0; i < a_count; ++i)
        hash = hash * 31 + a[i];
    for (unsigned i = 0; i < b_count; ++i)
        hash = hash * 37 + b[i];
    for (unsigned i = 0; i < to_count; ++i)
        hash = hash * 41 + to[i];
    for (unsigned i = 0; i < to_count; ++i)
        to[i] = hash + i * 7;
    return hash;
}

/// Hashes each of `items`, of `from_elements` words, to `to_elements` words. The two may be the same memory.
inline __host__ __device__ void items_work(std::uint32_t* to, unsigned to_elements, const std::uint32_t* from,
                                           unsigned from_elements, unsigned items, std::uint32_t salt) {
    for (unsigned item = 0; item < items; ++item) {
        std::uint32_t hash = salt;
        for (unsigned i = 0; i < from_elements; ++i)
            hash = hash * 31 + from[item * from_elements + i];
        for (unsigned i = 0; i < to_elements; ++i)
            to[item * to_elements + i] = hash + i;
    }
}

/// The hash of `count` words: also of how many zeros are at their end.
inline __host__ __device__ std::uint32_t fold_work(const std::uint32_t* from, unsigned count, std::uint32_t salt) {
    std::uint32_t hash = salt;
    for (unsigned i = 0; i < count; ++i)
        hash = (hash ^ from[i]) * 2654435761U + 1;
    return hash;
}

/// The value of a condition, less than `limit`, that a hash becomes.
inline __host__ __device__ unsigned decision_of(std::uint32_t hash, unsigned limit) {
    return (hash >> 7U) % limit;
}
