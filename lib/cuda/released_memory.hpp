// The memory that CapturePools have released: launches of graphs that use it are refused.
#pragma once

#include <cudag/source_location.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudag::detail {

/// The memory of one pool, while it is released.
struct ReleasedPool {
    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
    };

    const void* pool;  ///< the owner, as kept by graphs
    std::string name;  ///< "CapturePool \"activations\" made at a.cpp:12"
    std::string label; ///< "activations"
    std::vector<Range> ranges;

    [[nodiscard]] bool has(std::uintptr_t address) const noexcept {
        for (const Range& range : ranges)
            if (range.begin <= address && address < range.end) return true;
        return false;
    }
    /// Whether a part of `bytes` from `address` on belongs to it.
    [[nodiscard]] bool overlaps(std::uintptr_t address, std::size_t bytes) const noexcept {
        for (const Range& range : ranges)
            if (address < range.end && range.begin < address + bytes) return true;
        return false;
    }
};

/// Makes launches look for `pool`, until `forget_released`.
void note_released(std::shared_ptr<const ReleasedPool> pool);
void forget_released(const void* pool) noexcept;
[[nodiscard]] std::vector<std::shared_ptr<const ReleasedPool>> released_pools();

} // namespace cudag::detail
