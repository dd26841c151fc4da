// Colour refinement: distinguishes nodes that look alike by their neighbours.
#pragma once

#include "lists/cells.hpp"
#include "matching.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cudag::detail {

/// Splits the nodes of two graphs into cells: nodes of a cell have equally many edges of each kind to and from each
/// other cell. The nodes of the second graph are numbered after those of the first.
class Refinement {
  public:
    Refinement(const MatchGraph& before, const MatchGraph& after, std::vector<std::uint32_t> colours,
               std::uint32_t colour_count, std::uint64_t most_steps);

    [[nodiscard]] const Cells& cells() const noexcept { return cells_; }
    /// Splits cells until neighbours distinguish no more nodes. Returns false if no steps are left, or if a cell has
    /// more nodes of one graph than of the other: then there is no pairing.
    [[nodiscard]] bool refine();
    /// Makes two nodes of one larger cell partners.
    [[nodiscard]] bool pair(std::uint32_t first, std::uint32_t second);
    /// Undoes the splits that made the cells from `count` on.
    void undo(std::uint32_t count) noexcept;
    /// The cell with too many nodes of one graph, after a failed call.
    [[nodiscard]] std::uint32_t unbalanced() const noexcept { return unbalanced_; }

    /// Counts further steps of the search.
    void count_steps(std::uint64_t steps) noexcept { steps_left_ -= steps < steps_left_ ? steps : steps_left_; }
    [[nodiscard]] bool is_exhausted() const noexcept { return steps_left_ == 0; }

  private:
    struct Link {
        std::uint32_t to;
        std::uint64_t weight; ///< depends on the kind and the direction of the edge
    };

    void link(const MatchGraph& graph, std::uint32_t first_element, std::vector<std::uint32_t>& place);
    void look_from(std::uint32_t cell);
    /// Splits one cell by the sums of its touched elements, [begin, end) of `touched_`.
    [[nodiscard]] bool split(std::size_t begin, std::size_t end);
    void add_waiting(std::uint32_t cell);
    [[nodiscard]] bool check(std::uint32_t cell) noexcept;
    void stop() noexcept;

    Cells cells_;
    std::vector<std::uint32_t> first_link_; ///< by element, and one more
    std::vector<Link> links_;
    std::vector<std::uint32_t> waiting_; ///< cells with neighbours to distinguish
    std::size_t next_waiting_ = 0;
    std::vector<bool> is_waiting_;
    std::vector<std::uint32_t> touched_; ///< neighbours of a cell
    std::vector<std::uint64_t> sum_;     ///< by element: the sum of the weights of its edges to the cell; 0 if
                                         ///< untouched
    std::uint64_t steps_left_;
    std::uint32_t unbalanced_ = 0;
};

} // namespace cudag::detail
