// Rounding of sizes to buckets.
#include <cudag/bucket.hpp>

#include "cuda/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace cudag {

Bucket::Bucket(std::vector<std::size_t> sizes) : sizes_(std::move(sizes)) {
    if (sizes_.empty()) detail::refuse("Bucket: the list has no sizes; leave it out if sizes are not rounded");
    std::ranges::sort(sizes_);
    if (sizes_.front() == 0) detail::refuse("Bucket: the list has a size of 0; give sizes of at least 1 item");
}

Bucket Bucket::powers_of_two(std::size_t smallest, std::size_t largest) {
    if (!std::has_single_bit(smallest))
        detail::refuse(fmt::format("Bucket::powers_of_two: the smallest bucket, {}, is no power of two", smallest));
    if (largest < smallest)
        detail::refuse(
            fmt::format("Bucket::powers_of_two: the largest bucket, {}, is below the smallest, {}", largest, smallest));
    Bucket bucket([smallest, largest](std::size_t size) {
        constexpr std::size_t last = ~(~std::size_t{0} >> 1U); // the largest power of two
        return size > last ? largest : std::min(largest, std::max(smallest, std::bit_ceil(size)));
    });
    bucket.largest_ = largest;
    return bucket;
}

std::size_t Bucket::round_up(std::size_t size) const {
    if (size == 0 || !*this) return size;
    const auto require_within = [&](std::size_t largest) {
        if (size > largest)
            detail::refuse(
                fmt::format("Bucket: a size of {} items is above the largest bucket, {}; add a larger one, or "
                            "split the call",
                            size, largest));
    };
    if (!function_) {
        require_within(sizes_.back());
        return *std::ranges::lower_bound(sizes_, size);
    }
    require_within(largest_);
    const std::size_t rounded = function_(size);
    if (rounded < size)
        detail::refuse(fmt::format("Bucket: the function returned {} for a size of {} items; a bucket has at least the "
                                   "size",
                                   rounded, size));
    return rounded;
}

} // namespace cudag
