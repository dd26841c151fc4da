// A partition of elements into cells, with splits and their undoing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// A partition of the nodes of two graphs: numbers below `first_count` belong to the first graph. A balanced cell has
/// equally many nodes of both.
class Cells {
  public:
    struct Cell {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t firsts; ///< number of nodes of the first graph

        [[nodiscard]] std::uint32_t size() const noexcept { return end - begin; }
        [[nodiscard]] bool is_balanced() const noexcept { return 2 * firsts == size(); }
    };

    /// `cell_of` gives the initial cell of each element. Cells are numbered without gaps.
    Cells(std::uint32_t first_count, std::vector<std::uint32_t> cell_of, std::uint32_t cells);

    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(cells_.size()); }
    [[nodiscard]] const Cell& operator[](std::uint32_t cell) const noexcept { return cells_[cell]; }
    [[nodiscard]] std::uint32_t of(std::uint32_t element) const noexcept { return cell_of_[element]; }
    [[nodiscard]] bool is_first(std::uint32_t element) const noexcept { return element < first_count_; }
    /// The elements of a cell; valid until the cell is split or merged.
    [[nodiscard]] std::span<const std::uint32_t> elements(std::uint32_t cell) const noexcept {
        return std::span(order_).subspan(cells_[cell].begin, cells_[cell].size());
    }

    /// Makes `part` a new, last cell: some, but not all, elements of one cell.
    void split(std::span<const std::uint32_t> part);
    /// Undoes the splits that made the cells from `count` on.
    void merge_back(std::uint32_t count) noexcept;

  private:
    std::uint32_t first_count_;
    std::vector<std::uint32_t> order_; ///< the elements, cell by cell
    std::vector<std::uint32_t> place_; ///< by element: its position in `order_`
    std::vector<std::uint32_t> cell_of_;
    std::vector<Cell> cells_;
    std::vector<std::uint32_t> split_from_; ///< by cell: the cell from whose end it was cut
};

} // namespace cudag::detail
