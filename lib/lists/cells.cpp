// A partition of elements into cells, with splits and their undoing.
#include "cells.hpp"

#include <utility>

namespace cudag::detail {

Cells::Cells(std::uint32_t first_count, std::vector<std::uint32_t> cell_of, std::uint32_t cells)
    : first_count_(first_count), order_(cell_of.size()), place_(cell_of.size()), cell_of_(std::move(cell_of)),
      cells_(cells), split_from_(cells) {
    for (const std::uint32_t cell : cell_of_)
        ++cells_[cell].end;
    std::uint32_t begin = 0;
    for (Cell& cell : cells_) {
        cell.begin = begin;
        begin += std::exchange(cell.end, begin);
    }
    for (std::uint32_t element = 0; element < cell_of_.size(); ++element) {
        Cell& cell = cells_[cell_of_[element]];
        if (is_first(element)) ++cell.firsts;
        place_[element] = cell.end;
        order_[cell.end++] = element;
    }
}

void Cells::split(std::span<const std::uint32_t> part) {
    const std::uint32_t from = cell_of_[part.front()];
    const std::uint32_t made = count();
    cells_.push_back({cells_[from].end, cells_[from].end, 0});
    split_from_.push_back(from);
    for (const std::uint32_t element : part) {
        const std::uint32_t last = --cells_[from].end;
        const std::uint32_t other = order_[last];
        std::swap(order_[place_[element]], order_[last]);
        place_[other] = std::exchange(place_[element], last);
        cell_of_[element] = made;
        if (is_first(element)) ++cells_[made].firsts;
    }
    cells_[made].begin = cells_[from].end;
    cells_[from].firsts -= cells_[made].firsts;
}

void Cells::merge_back(std::uint32_t count) noexcept {
    for (; cells_.size() > count; cells_.pop_back(), split_from_.pop_back()) {
        const Cell& made = cells_.back();
        Cell& from = cells_[split_from_.back()];
        from.end = made.end;
        from.firsts += made.firsts;
        for (std::uint32_t i = made.begin; i < made.end; ++i)
            cell_of_[order_[i]] = split_from_.back();
    }
}

} // namespace cudag::detail
