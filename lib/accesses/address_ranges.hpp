// A set of address ranges with fast search.
#pragma once

#include "memory_access.hpp"

#include <vector>

namespace cudag::detail {

class AddressRanges {
  public:
    AddressRanges() = default;
    /// Takes ranges in any order; they may overlap.
    explicit AddressRanges(std::vector<AddressRange>&& ranges);

    /// Whether `range` shares no address with any of them.
    [[nodiscard]] bool are_apart_from(const AddressRange& range) const noexcept;

  private:
    std::vector<AddressRange> ranges_; ///< sorted by address, without overlap
};

} // namespace cudag::detail
