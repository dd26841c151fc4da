// Memory with the same role in two recordings of one function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudag::detail {

/// Memory at one address in the first recording, and at another one in the second.
struct MemoryPair {
    std::uintptr_t before;
    std::uintptr_t after;
    std::size_t bytes;
    bool is_value = false; ///< whether the content counts: host memory, with the values of each recording
};

/// The pairs of two recordings.
class MemoryPairs {
  public:
    MemoryPairs() = default;
    explicit MemoryPairs(std::vector<MemoryPair> pairs) : pairs_(std::move(pairs)) {}

    void add(const MemoryPair& pair) { pairs_.push_back(pair); }
    /// Returns the pair with both addresses at the same offset, or at its end; null if there is none.
    [[nodiscard]] const MemoryPair* find(std::uintptr_t before, std::uintptr_t after) const noexcept {
        const auto found = std::ranges::find_if(pairs_, [&](const MemoryPair& pair) {
            return before - pair.before <= pair.bytes && before - pair.before == after - pair.after;
        });
        return found == pairs_.end() ? nullptr : &*found;
    }
    [[nodiscard]] bool are_same(std::uintptr_t before, std::uintptr_t after) const noexcept {
        return find(before, after) != nullptr;
    }

  private:
    std::vector<MemoryPair> pairs_;
};

} // namespace cudag::detail
