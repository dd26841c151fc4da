// The nodes that were removed from a graph while it was written: what handles are numbered by.
#pragma once

#include "label.hpp"
#include "lists/growth.hpp"

#include <cudag/source_location.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

struct RemovedNode {
    std::uint32_t number;
    std::string_view kind; ///< as errors call it
    Label label;
    SourceLocation made_at;
    SourceLocation removed_at;
};

/// A handle keeps its number for good: nodes are numbered as they are made, those that were removed included. The index
/// of a node is its number less the removed nodes before it. New nodes are told nothing of that.
class RemovedNodes {
  public:
    /// Null for a node that is there.
    [[nodiscard]] const RemovedNode* find(std::uint32_t number) const noexcept {
        const auto place = from(number);
        return place == list_.end() || place->number != number ? nullptr : &*place;
    }
    /// The index of a node that is there.
    [[nodiscard]] std::uint32_t index_of(std::uint32_t number) const noexcept {
        return number - static_cast<std::uint32_t>(from(number) - list_.begin());
    }
    [[nodiscard]] std::uint32_t number_of(std::uint32_t index) const noexcept {
        std::size_t before = 0; // how many removed ones: a binary search
        for (std::size_t more = list_.size(); more != 0;) {
            const std::size_t half = more / 2;
            if (list_[before + half].number - (before + half) <= index) {
                before += half + 1;
                more -= half + 1;
            } else {
                more = half;
            }
        }
        return index + static_cast<std::uint32_t>(before);
    }

    /// Room for `more`.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    /// Adds `nodes`, which stand in order; there must be room.
    void add(std::vector<RemovedNode>&& nodes) noexcept {
        const auto before = static_cast<std::ptrdiff_t>(list_.size());
        std::move(nodes.begin(), nodes.end(), std::back_inserter(list_));
        std::inplace_merge(list_.begin(), list_.begin() + before, list_.end(),
                           [](const RemovedNode& a, const RemovedNode& b) { return a.number < b.number; });
    }

  private:
    [[nodiscard]] std::vector<RemovedNode>::const_iterator from(std::uint32_t number) const noexcept {
        return std::lower_bound(list_.begin(), list_.end(), number,
                                [](const RemovedNode& node, std::uint32_t n) { return node.number < n; });
    }

    std::vector<RemovedNode> list_; ///< by number
};

/// "kernel "scale" at f.cpp:12", as far as it is still known.
[[nodiscard]] std::string describe_removed(const RemovedNode& node);

} // namespace cudag::detail
