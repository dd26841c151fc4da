// Owners that are in no bundle yet, and which nodes brought them in.
#pragma once

#include "lists/growth.hpp"
#include "lists/renumbering.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

/// They are bundled when something is made of the graph: until then they can be taken back.
class WaitingOwners {
  public:
    static constexpr auto of_graph = std::numeric_limits<std::uint32_t>::max(); ///< in place of a node

    [[nodiscard]] bool empty() const noexcept { return objects_.empty(); }
    /// The objects, for who empties the list, too.
    [[nodiscard]] std::vector<std::shared_ptr<const void>>& objects() noexcept { return objects_; }
    void clear() noexcept {
        objects_.clear();
        nodes_.clear();
    }

    /// Room for `more`: adding them then cannot fail.
    void reserve(std::size_t more) {
        reserve_more(objects_, more);
        reserve_more(nodes_, more);
    }
    void add(std::shared_ptr<const void>&& object, std::uint32_t node) {
        objects_.push_back(std::move(object));
        nodes_.push_back(node);
    }

    /// How many there are of nodes that go. Moves them to `gone`, which has room, when the nodes do.
    [[nodiscard]] std::size_t count_gone(const Renumbering& next) const noexcept {
        return static_cast<std::size_t>(
            std::ranges::count_if(nodes_, [&](std::uint32_t node) { return node != of_graph && !next.keeps(node); }));
    }
    void renumber(const Renumbering& next, std::vector<std::shared_ptr<const void>>& gone) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i] != of_graph && !next.keeps(nodes_[i])) {
                gone.push_back(std::move(objects_[i]));
                continue;
            }
            nodes_[kept] = nodes_[i] == of_graph ? of_graph : next(nodes_[i]);
            objects_[kept++].swap(objects_[i]);
        }
        nodes_.resize(kept);
        objects_.resize(kept);
    }

  private:
    std::vector<std::shared_ptr<const void>> objects_;
    std::vector<std::uint32_t> nodes_;
};

} // namespace cudag::detail
