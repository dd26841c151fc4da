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
    /// Calls `use` with each cell of an access, once or, where its rows meet, more often.
    template <class Use>
    void for_each(std::size_t access, const Use& use) const {
        const Region& region = regions_[region_of_[access]];
        for (std::uint32_t i = region.first_block; i < region.first_block + region.blocks; ++i) {
            const Block& block = blocks_[i];
            for (std::uint32_t row = 0; row < block.rows; ++row)
                for (std::uint32_t column = 0; column < block.columns; ++column)
                    use(block.first + row * block.row_step + column);
        }
    }

  private:
    struct Region {
        MemoryRegion bytes; ///< simplified
        unsigned modes;     ///< a bit for each
        std::uint32_t first_block = 0;
        std::uint32_t blocks = 0;
    };
    /// Cells in rows and columns.
    struct Block {
        std::uint32_t first;
        std::uint32_t columns = 1;
        std::uint32_t rows = 1;
        std::uint32_t row_step = 0;
    };
    struct Begin {
        std::uintptr_t address;
        std::uint32_t region;
    };
    class Cutting;

    void find_regions(std::span<const MemoryAccess> accesses);
    void add_cells(std::span<const Begin> overlapping);
    void cut(std::span<const Begin> overlapping);

    std::vector<std::uint32_t> region_of_; ///< by access
    std::vector<Region> regions_;
    std::vector<Block> blocks_;
    std::uint32_t size_ = 0;
};

} // namespace cudag::detail
