// The memory that accesses touch, cut where one of them begins or ends.
#pragma once

#include "access_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Numbers the parts into which accesses cut memory: two accesses share a cell if and only if they have bytes in
/// common. Memory in which all accesses commute has no cells.
///
/// Regions that overlap no others are one cell each. Others are cut at all their ends; where they have rows of one
/// pitch, at the ends of their rows and of their columns, so that a tile of a matrix that is cut into tiles is one
/// cell, and into rows else. Takes accesses + regions * log(regions) + cells, and for regions whose pitches differ, or
/// that cut their rows everywhere, as many cells as they have rows.
class AccessCells {
  public:
    explicit AccessCells(const AccessList& accesses);

    /// How many there are.
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// The cells of a region, each once.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t region) const {
        const Part& part = parts_[region];
        return {cells_.data() + part.first, part.end - part.first};
    }

  private:
    struct Part {
        std::uint32_t modes = 0; ///< of all accesses, a bit for each
        std::uint32_t first = 0; ///< of its cells in `cells_`
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
