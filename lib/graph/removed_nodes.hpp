// The nodes removed from a graph under construction, and the numbers of handles.
#pragma once

#include "label.hpp"
#include "lists/assertion.hpp"
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
    std::string_view kind; ///< as in errors
    Label label;
    SourceLocation made_at;
    SourceLocation removed_at;
};

/// The removed nodes of a graph. A handle keeps its number for good: nodes are numbered in order of their addition,
/// removed ones included. The index of a node is its number less the removed nodes before it.
class RemovedNodes {
  public:
    /// Returns the record of a removed node; null for an existing one.
    [[nodiscard]] const RemovedNode* find(std::uint32_t number) const noexcept {
        const auto place = from(number);
        return place == list_.end() || place->number != number ? nullptr : &*place;
    }
    /// Returns the index of an existing node.
    [[nodiscard]] std::uint32_t index_of(std::uint32_t number) const noexcept {
        return number - static_cast<std::uint32_t>(from(number) - list_.begin());
    }
    [[nodiscard]] std::uint32_t number_of(std::uint32_t index) const noexcept {
        std::size_t before = 0; // number of removed ones, by binary search
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

    /// Makes room for `more`.
    void reserve(std::size_t more) { reserve_more(list_, more); }
    /// Adds `nodes`, which are in order. Call `reserve` first.
    void add(std::vector<RemovedNode>&& nodes) noexcept {
        CUDAG_ASSERT(has_room(list_, nodes.size()) && std::ranges::is_sorted(nodes, {}, &RemovedNode::number));
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

/// Describes a removed node as far as it is still known: "kernel \"scale\" at f.cpp:12".
[[nodiscard]] std::string describe_removed(const RemovedNode& node);

} // namespace cudag::detail
