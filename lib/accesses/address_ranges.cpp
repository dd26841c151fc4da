// A set of address ranges with fast search.
#include "address_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudag::detail {

AddressRanges::AddressRanges(std::vector<AddressRange>&& ranges) {
    std::ranges::sort(ranges, {}, &AddressRange::begin);
    for (const AddressRange& range : ranges)
        if (ranges_.empty() || ranges_.back().end < range.begin)
            ranges_.push_back(range);
        else
            ranges_.back().end = std::max(ranges_.back().end, range.end);
}

bool AddressRanges::are_apart_from(const AddressRange& range) const noexcept {
    const auto after = std::ranges::lower_bound(ranges_, range.end, {}, &AddressRange::begin);
    return after == ranges_.begin() || std::prev(after)->end <= range.begin;
}

} // namespace cudag::detail
