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
/// A block without overlap is one cell. Overlapping blocks are cut at all their ends. If their rows have one pitch,
/// the cuts are at the ends of rows and columns, so that a tile of a tiled matrix is one cell; otherwise they are at
/// the ends of each row. Takes accesses + blocks * log(blocks) + cells; blocks with different pitches, or with cuts
/// everywhere in their rows, have as many cells as rows.
class AccessCells {
  public:
    explicit AccessCells(const AccessList& accesses);

    /// The number of cells.
    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    /// The cells of a block, each once.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t block) const {
        const Part& part = parts_[block];
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
        std::uint32_t block;
    };
    class Cutting;

    using Blocks = std::span<const MemoryBlock>;

    void add_cells(Blocks all, std::span<const Extent> overlapping);
    void cut(Blocks all, std::span<const Extent> overlapping);

    std::vector<Part> parts_; ///< by block
    std::vector<std::uint32_t> cells_;
    std::uint32_t size_ = 0;
};

} // namespace cudag::detail
