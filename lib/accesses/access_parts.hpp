// Parts of an access list, for captured regions with declared accesses.
#pragma once

#include "access_list.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// Splits accesses into parts in which conflicts follow from equivalence classes. In the whole list they do not if a
/// region declares accesses of its nodes: declared accesses conflict with no other access of the region, while the
/// nodes' own accesses may conflict with each other. Each two conflicting accesses share at least one part. There are
/// two parts, and two more for each bit of the number of regions.
class AccessParts {
  public:
    /// `accesses` must outlive this.
    explicit AccessParts(const AccessList& accesses) : accesses_(accesses), inside_(accesses.size()) {
        std::unordered_map<std::uint32_t, std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < accesses.size(); ++i) {
            const MemoryAccess access = accesses[i];
            const std::uint32_t region = access.unit != 0 ? access.unit : access.part_of;
            if (region == 0) continue;
            const auto next = static_cast<std::uint32_t>(numbers.size());
            inside_[i] = {numbers.try_emplace(region, next).first->second, access.unit != 0 ? By::region : By::part};
        }
        regions_ = static_cast<std::uint32_t>(numbers.size());
    }

    /// Calls `use(part, places)` for each part; `places` are the positions of its accesses in the whole list.
    template <class Use>
    void for_each(const Use& use) const {
        use_some(use, [](const Inside& inside) { return inside.by != By::region; });
        use_some(use, [](const Inside& inside) { return inside.by != By::part; });
        // The numbers of two regions differ in a bit.
        for (std::uint32_t bit = 1; bit < regions_; bit *= 2)
            for (const std::uint32_t declaring : {0U, bit})
                use_some(use, [=](const Inside& inside) {
                    return inside.by != By::node && ((inside.number & bit) == declaring) == (inside.by == By::region);
                });
    }

  private:
    enum class By : std::uint8_t { node, part, region };
    struct Inside {
        std::uint32_t number = 0; ///< of the region
        By by = By::node;         ///< a node of no region, a node of a region, or the region as a whole
    };

    template <class Use, class Takes>
    void use_some(const Use& use, const Takes& takes) const {
        AccessList part;
        std::vector<std::uint32_t> places;
        for (std::uint32_t i = 0; i < accesses_.size(); ++i) {
            if (!takes(inside_[i])) continue;
            MemoryAccess access = accesses_[i];
            access.part_of = 0;
            part.add(access);
            places.push_back(i);
        }
        use(part, places);
    }

    const AccessList& accesses_;
    std::vector<Inside> inside_; ///< by access
    std::uint32_t regions_ = 0;
};

} // namespace cudag::detail
