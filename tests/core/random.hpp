// Random numbers for random graphs and programs.
#pragma once

#include <cstddef>
#include <cstdint>

/// SplitMix64: a generator that is quick to seed.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint32_t below(std::size_t end) {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t bits = state_;
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBU;
        return static_cast<std::uint32_t>((bits ^ bits >> 31) % end);
    }

  private:
    std::uint64_t state_;
};
