// The memory that accesses touch, cut where one of them begins or ends.
#pragma once

#include "memory_access.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Numbers the parts into which accesses cut memory: two accesses share a cell if and only if they have bytes in
/// common. Memory in which all accesses commute has no cells.
///
/// Equal regions are one. Regions that overlap no others are one cell each. Others are cut at all their ends; where
/// they have rows of one pitch, at the ends of their rows and of their columns, so that a tile of a matrix that is cut
/// into tiles is one cell, and into rows else. Takes accesses + regions * log(regions) + cells, and for regions whose
/// pitches differ, or that cut their rows everywhere, as many cells as they have rows.
class AccessCells {
  public:
    explicit AccessCells(std::span<const MemoryAccess> accesses);

    /// How many there are.
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// The cells of an access, each once.
    [[nodiscard]] std::span<const std::uint32_t> of(std::size_t access) const {
        const Region& region = regions_[region_of_[access]];
        return {cells_.data() + region.first, region.end - region.first};
    }

    /// Equal for accesses to the same bytes, written the same way.
    [[nodiscard]] std::uint32_t region_of(std::size_t access) const { return region_of_[access]; }

  private:
    struct Region {
        std::uint32_t access;    ///< the first one to it
        std::uint32_t modes = 0; ///< of all, a bit for each
        std::uint32_t first = 0; ///< of its cells in `cells_`
        std::uint32_t end = 0;
    };
    struct Extent {
        std::uintptr_t begin;
        std::uintptr_t end;
        std::uint32_t region;
    };
    class Cutting;

    using Accesses = std::span<const MemoryAccess>;

    void find_regions(Accesses accesses);
    void add_cells(Accesses accesses, std::span<const Extent> overlapping);
    void cut(Accesses accesses, std::span<const Extent> overlapping);

    std::vector<std::uint32_t> region_of_; ///< by access
    std::vector<Region> regions_;
    std::vector<std::uint32_t> cells_;
    std::uint32_t size_ = 0;
};

} // namespace cudag::detail
