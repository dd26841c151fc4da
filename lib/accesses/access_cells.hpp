// Cells of memory, cut at the boundaries of accesses.
#pragma once

#include "access_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Numbers the cells into which accesses cut memory: two accesses share a cell if and only if they have bytes in
/// common. Memory has no cells if all its accesses commute.
///
/// A region without overlap is one cell. Overlapping regions are cut at all their ends. If their rows have one pitch,
/// the cuts are at the ends of rows and columns, so that a tile of a tiled matrix is one cell; otherwise they are at
/// the ends of each row. Takes accesses + regions * log(regions) + cells; regions with different pitches, or with cuts
/// everywhere in their rows, have as many cells as rows.
class AccessCells {
  public:
    explicit AccessCells(const AccessList& accesses);

    /// The number of cells.
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// The cells of a region, each once.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t region) const {
        const Part& part = parts_[region];
        return {cells_.data() + part.first, part.end - part.first};
    }

  private:
    struct Part {
        std::uint32_t modes = 0; ///< of all accesses, a bit for each
        std::uint32_t first = 0; ///< its cells' start in `cells_`
        std::uint32_t end = 0;
    };
    struct Extent {
        std::uintptr_t begin;
        std::uintptr_t end;
        std::uint32_t region;
    };
    class Cutting;

    using Regions = std::span<const MemoryRegion>;

    void add_cells(Regions all, std::span<const Extent> overlapping);
    void cut(Regions all, std::span<const Extent> overlapping);

    std::vector<Part> parts_; ///< by region
    std::vector<std::uint32_t> cells_;
    std::uint32_t size_ = 0;
};

} // namespace cudag::detail
