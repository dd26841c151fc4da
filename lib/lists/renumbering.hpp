// New numbers for the elements of a list after some are removed.
#pragma once

#include "none.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The new numbers of a list's elements after a removal: the kept ones close up in their order.
class Renumbering {
  public:
    /// Removes the elements in `gone` from `count` elements. `gone` may repeat a number.
    Renumbering(std::size_t count, std::span<const std::uint32_t> gone) : next_(count) {
        for (const std::uint32_t number : gone)
            next_[number] = none;
        for (std::uint32_t& number : next_)
            if (number != none) number = kept_++;
    }

    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
    [[nodiscard]] bool keeps(std::uint32_t number) const noexcept { return next_[number] != none; }
    /// The new number of a kept element.
    [[nodiscard]] std::uint32_t operator()(std::uint32_t number) const noexcept { return next_[number]; }
    /// How many of the first `count` elements are kept.
    [[nodiscard]] std::size_t kept_of(std::size_t count) const noexcept {
        for (; count != 0; --count)
            if (next_[count - 1] != none) return next_[count - 1] + std::size_t{1};
        return 0;
    }

    /// Closes up a list of all elements.
    template <class T>
    void close_up(std::vector<T>& list) const noexcept {
        for (std::size_t i = 0; i < next_.size(); ++i)
            if (next_[i] != none && next_[i] != i) list[next_[i]] = std::move(list[i]);
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept_), list.end());
    }

  private:
    std::vector<std::uint32_t> next_;
    std::uint32_t kept_ = 0;
};

} // namespace cudag::detail
