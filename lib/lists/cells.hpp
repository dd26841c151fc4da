// Elements in cells, which are split again and again, and put together as they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// The elements are the nodes of two graphs: numbers below `first_count` are those of the first. A cell with equally
/// many of both is balanced.
class Cells {
  public:
    struct Cell {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t firsts; ///< how many are of the first graph

        [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
        [[nodiscard]] bool is_balanced() const noexcept { return 2 * firsts == size(); }
    };

    /// `cell_of` says which cell each element is in at first; those are numbered without a gap.
    Cells(std::uint32_t first_count, std::vector<std::uint32_t> cell_of, std::uint32_t cells);

    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(cells_.size()); }
    [[nodiscard]] const Cell& operator[](std::uint32_t cell) const noexcept { return cells_[cell]; }
    [[nodiscard]] std::uint32_t of(std::uint32_t element) const noexcept { return cell_of_[element]; }
    [[nodiscard]] bool is_first(std::uint32_t element) const noexcept { return element < first_count_; }
    /// Valid until the cell is split, or put together.
    [[nodiscard]] std::span<const std::uint32_t> elements(std::uint32_t cell) const noexcept {
        return std::span(order_).subspan(cells_[cell].begin, cells_[cell].size());
    }

    /// Makes `part`, some but not all elements of one cell, a cell of its own: the last one.
    void split(std::span<const std::uint32_t> part);
    /// Undoes all splits that have made cells from `count` on.
    void merge_back(std::uint32_t count) noexcept;

  private:
    std::uint32_t first_count_;
    std::vector<std::uint32_t> order_; ///< the elements, cell by cell
    std::vector<std::uint32_t> place_; ///< of each element in `order_`
    std::vector<std::uint32_t> cell_of_;
    std::vector<Cell> cells_;
    std::vector<std::uint32_t> split_from_; ///< by cell: where it was cut off, from the end
};

} // namespace cudag::detail
