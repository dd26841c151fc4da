// Ranges of addresses in which one looks for others.
#pragma once

#include "memory_access.hpp"

#include <vector>

namespace cudag::detail {

class AddressRanges {
  public:
    AddressRanges() = default;
    /// In any order; they may overlap.
    explicit AddressRanges(std::vector<AddressRange>&& ranges);

    /// Whether none of them has an address in common with `range`.
    [[nodiscard]] bool are_apart_from(const AddressRange& range) const noexcept;

  private:
    std::vector<AddressRange> ranges_; ///< by address, with no two that overlap
};

} // namespace cudag::detail
