// The nodes of activity records: CUPTI numbers the nodes of an exec.
#include "activity_match.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace cudag::detail {

namespace {

/// A place in the numbering of inner nodes: a node, or nothing for a kernel of a plan.
using InnerPlace = std::optional<std::size_t>;

class ActivityMatching {
  public:
    ActivityMatching(const ProfiledNodes& profiled, const std::vector<std::pair<std::uint32_t, std::size_t>>& outermost)
        : profiled_(profiled) {
        for (const auto& [number, node] : outermost) {
            node_of_.emplace(number, node);
            first_inner_ = std::max(first_inner_, number + 1);
        }
        for (const NodeProfile& node : profiled.nodes)
            kernels_.insert(node.kernel);
    }

    std::vector<RunRecord> match(std::vector<NodeActivity>&& activities, std::vector<std::uint64_t>&& marks) {
        number_inner(activities);
        std::erase_if(activities, [](const NodeActivity& activity) {
            return activity.begin == 0 || activity.end < activity.begin; // its body did not run
        });
        std::ranges::stable_sort(activities, {}, &NodeActivity::begin);
        const std::vector<std::uint64_t> begins = marks.empty() ? first_begins(activities) : sorted(std::move(marks));
        std::set<std::pair<std::uint32_t, std::uint64_t>> known;
        std::vector<RunRecord> runs;
        for (const NodeActivity& activity : activities) {
            const auto node = node_of_.find(activity.number);
            if (node == node_of_.end()) continue;
            if (!known.emplace(activity.number, activity.begin).second) continue; // repeated by a later launch
            const auto next = std::ranges::upper_bound(begins, activity.begin);
            const auto launch = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(next - begins.begin(), 1) - 1);
            runs.push_back({launch, node->second, microseconds(activity.begin, activities.front().begin),
                            microseconds(activity.end, activities.front().begin)});
        }
        return runs;
    }

  private:
    static double microseconds(std::uint64_t time, std::uint64_t origin) noexcept {
        return static_cast<double>(static_cast<std::int64_t>(time - origin)) / 1000;
    }

    static std::vector<std::uint64_t> sorted(std::vector<std::uint64_t>&& times) {
        std::ranges::sort(times);
        return std::move(times);
    }

    /// The begin of the first record of each call, in ascending order: launches of an exec do not overlap.
    static std::vector<std::uint64_t> first_begins(const std::vector<NodeActivity>& activities) {
        std::set<std::uint32_t> calls;
        std::vector<std::uint64_t> begins;
        for (const NodeActivity& activity : activities)
            if (activity.call != 0 && calls.insert(activity.call).second) begins.push_back(activity.begin);
        return begins;
    }

    void number_inner(const std::vector<NodeActivity>& activities) {
        std::map<std::uint32_t, const NodeActivity*> inner; ///< one record for each number
        for (const NodeActivity& activity : activities)
            if (!node_of_.contains(activity.number)) inner.emplace(activity.number, &activity);
        if (inner.empty()) return;
        std::vector<InnerPlace> places;
        for (const InnerGraph& graph : profiled_.inner) {
            std::ranges::copy(graph.nodes, std::back_inserter(places));
            places.insert(places.end(), graph.kernels, std::nullopt);
        }
        const std::optional<std::uint32_t> first = find_first(places, inner);
        if (!first) return;
        for (std::uint32_t i = 0; i < places.size(); ++i)
            if (places[i]) node_of_.emplace(*first + i, *places[i]);
    }

    /// Returns the first number of an inner node, such that all records fit; nothing if there is none.
    [[nodiscard]] std::optional<std::uint32_t>
    find_first(const std::vector<InnerPlace>& places, const std::map<std::uint32_t, const NodeActivity*>& inner) const {
        const std::uint32_t last = inner.rbegin()->first;
        const auto count = static_cast<std::uint32_t>(places.size());
        const std::uint32_t begin = last + 1 > count ? std::max(first_inner_, last + 1 - count) : first_inner_;
        for (std::uint32_t first = begin; first <= last; ++first) {
            const auto fits_here = [&](const auto& numbered) {
                const auto& [number, activity] = numbered;
                return number < first ? activity->kernel == kernel_of_plans // of the outermost graph
                                      : fits(*activity, places[number - first]);
            };
            if (std::ranges::all_of(inner, fits_here)) return first;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool fits(const NodeActivity& activity, const InnerPlace& place) const {
        const bool is_kernel = activity.activity == Activity::kernel;
        if (!place) return is_kernel && activity.kernel == kernel_of_plans;
        const NodeProfile& node = profiled_.nodes[*place];
        if (node.kind == NodeKind::kernel) return is_kernel && (node.kernel.empty() || node.kernel == activity.kernel);
        if (node.kind != NodeKind::memcpy && node.kind != NodeKind::memset) return false;
        return is_kernel ? !kernels_.contains(activity.kernel)
                         : (node.kind == NodeKind::memcpy) == (activity.activity == Activity::copy);
    }

    const ProfiledNodes& profiled_;
    std::unordered_map<std::uint32_t, std::size_t> node_of_{};
    std::uint32_t first_inner_ = 0; ///< no inner node has a smaller number
    std::set<std::string> kernels_{};
};

} // namespace

std::vector<RunRecord> match_activities(const ProfiledNodes& profiled,
                                        const std::vector<std::pair<std::uint32_t, std::size_t>>& outermost,
                                        std::vector<NodeActivity>&& activities, std::vector<std::uint64_t>&& marks) {
    return ActivityMatching(profiled, outermost).match(std::move(activities), std::move(marks));
}

} // namespace cudag::detail
