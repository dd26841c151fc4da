// Random numbers that are the same everywhere for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x1234567) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    /// Less than `limit`, which is more than 0.
    unsigned below(std::size_t limit) { return static_cast<unsigned>(next() % limit); }
    /// From `first` to `last`.
    unsigned between(unsigned first, unsigned last) { return first + below(last - first + 1); }
    bool percent(unsigned chance) { return below(100) < chance; }
    std::uint32_t word() { return static_cast<std::uint32_t>(next()); }

    template <class Range>
    auto& pick(Range& range) {
        return range[below(std::size(range))];
    }

  private:
    std::uint64_t state_;
};
