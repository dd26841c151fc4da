// Owners without a bundle yet, with their nodes.
#pragma once

#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "lists/none.hpp"
#include "lists/renumbering.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The owners added since the last bundle. Clones and execs need bundles: until then owners can be taken back.
class WaitingOwners {
  public:
    static constexpr auto of_graph = none; ///< in place of a node

    [[nodiscard]] bool empty() const noexcept { return objects_.empty(); }
    /// The objects. A caller may move them out, and then calls `clear`.
    [[nodiscard]] std::vector<std::shared_ptr<const void>>& objects() noexcept { return objects_; }
    [[nodiscard]] const std::vector<std::shared_ptr<const void>>& objects() const noexcept { return objects_; }
    void clear() noexcept {
        objects_.clear();
        nodes_.clear();
    }

    /// Makes room for `more` owners: adding them then cannot fail.
    void reserve(std::size_t more) {
        reserve_more(objects_, more);
        reserve_more(nodes_, more);
    }
    void add(std::shared_ptr<const void>&& object, std::uint32_t node) {
        objects_.push_back(std::move(object));
        nodes_.push_back(node);
    }

    /// Counts the owners of removed nodes. `renumber` moves them to `gone`, where room must be.
    [[nodiscard]] std::size_t count_gone(const Renumbering& next) const noexcept {
        return static_cast<std::size_t>(
            std::ranges::count_if(nodes_, [&](std::uint32_t node) { return node != of_graph && !next.keeps(node); }));
    }
    void renumber(const Renumbering& next, std::vector<std::shared_ptr<const void>>& gone) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i] != of_graph && !next.keeps(nodes_[i])) {
                CUDAG_ASSERT(has_room(gone));
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
