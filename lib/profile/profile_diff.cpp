// Comparison of two profiles.
#include <cudag/profile_diff.hpp>

#include "plan/choice.hpp"
#include "run_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

namespace {

/// Returns the identity of each node that ran, except nodes around others: its names, those of the nodes around it, and
/// its place among equal ones.
std::map<std::string, const NodeProfile*> identify(const Profile& profile) {
    const std::vector<NodeProfile>& nodes = profile.nodes();
    const std::vector<std::size_t> ends = detail::ends_of(nodes);
    std::vector<std::string> keys(nodes.size());
    std::map<std::string, std::size_t> counts;
    std::map<std::string, const NodeProfile*> result;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeProfile& node = nodes[i];
        keys[i] = node.outer ? keys[*node.outer] : std::string();
        keys[i] += fmt::format("\x01{}\x02{}\x02{}\x02{}", node.body, to_string(node.kind), node.kernel, node.label);
        keys[i] += fmt::format("\x02{}", counts[keys[i]]++);
        if (ends[i] == i + 1 && node.runs != 0) result.emplace(keys[i], &node);
    }
    return result;
}

void sort_by_change(std::vector<NodeTimes>& list) {
    std::ranges::stable_sort(list, std::ranges::greater(),
                             [](const NodeTimes& times) { return std::abs(times.change()); });
}

void add_rows(std::string& text, std::string_view title, const std::vector<NodeTimes>& list) {
    const auto show = [](const std::optional<MeasuredTime>& time) {
        return time ? fmt::format("{:.1f}", time->median) : std::string("-");
    };
    if (!list.empty()) text += fmt::format("{}:\n", title);
    for (const NodeTimes& times : list)
        text += fmt::format("  {:>9} -> {:>9}  {:>+9.1f}  {}\n", show(times.before), show(times.after), times.change(),
                            times.name);
}

} // namespace

std::string ProfileDiff::to_string() const {
    std::string text =
        fmt::format("GPU time {:.1f} -> {:.1f} us ({:+.1f})\n", gpu_time_.before.value_or(MeasuredTime()).median,
                    gpu_time_.after.value_or(MeasuredTime()).median, gpu_time_.change());
    add_rows(text, "slower", slower_);
    add_rows(text, "faster", faster_);
    add_rows(text, "in one profile only", unmatched_);
    return text + fmt::format("{} node{} as before\n", same_.size(), same_.size() == 1 ? "" : "s");
}

ProfileDiff diff(const Profile& before, const Profile& after) {
    std::map<std::string, const NodeProfile*> old = identify(before);
    std::vector<NodeTimes> slower, faster, same, unmatched;
    for (const auto& [key, node] : identify(after)) {
        const auto match = old.find(key);
        if (match == old.end()) {
            unmatched.push_back({node->description, std::nullopt, node->duration});
            continue;
        }
        NodeTimes times{node->description, match->second->duration, node->duration};
        std::vector<NodeTimes>& list = detail::is_clearly_less(*times.before, *times.after)   ? slower
                                       : detail::is_clearly_less(*times.after, *times.before) ? faster
                                                                                              : same;
        list.push_back(std::move(times));
        old.erase(match);
    }
    for (const auto& [key, node] : old)
        unmatched.push_back({node->description, node->duration, std::nullopt});
    for (std::vector<NodeTimes>* list : {&slower, &faster, &same, &unmatched})
        sort_by_change(*list);
    return {detail::Passkey(), {"the graph", before.gpu_time(), after.gpu_time()},
            std::move(slower), std::move(faster),
            std::move(same),   std::move(unmatched)};
}

} // namespace cudag
