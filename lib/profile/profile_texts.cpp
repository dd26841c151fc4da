// Profiles as text, and their getters.
#include "profile_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace cudag {

namespace {

constexpr std::size_t most_in_path = 12; ///< runs of the critical path in the text

/// Lists the runs of the critical path: all, or the first and last.
std::string list_path(const Profile& profile) {
    const std::vector<std::size_t>& path = profile.critical_path();
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path.size() > most_in_path && i == most_in_path / 2) {
            i = path.size() - most_in_path / 2;
            text += fmt::format(" -> ({} more)", path.size() - most_in_path);
        }
        text += (i == 0 ? "" : " -> ") + detail::short_name(profile.nodes()[profile.timeline()[path[i]].node]);
    }
    return text;
}

/// The time in which some node of `device` runs in the typical launch. The runs are in the order of their begin.
double busy_time(const Profile& profile, int device) {
    double busy = 0, until = 0;
    for (const NodeRun& run : profile.timeline()) {
        if (profile.nodes()[run.node].device != device) continue;
        busy += std::max(0.0, run.end - std::max(run.begin, until));
        until = std::max(until, run.end);
    }
    return busy;
}

} // namespace

std::set<int> detail::devices_in(const Profile& profile) {
    std::set<int> devices;
    for (const NodeProfile& node : profile.nodes())
        if (node.runs != 0 && node.device) devices.insert(*node.device);
    return devices;
}

std::string detail::short_name(const NodeProfile& node) {
    if (!node.label.empty()) return node.label;
    return node.kernel.empty() ? std::string(to_string(node.kind)) : node.kernel;
}

std::string_view to_string(ProfileSource source) noexcept {
    return source == ProfileSource::cupti    ? "CUPTI"
           : source == ProfileSource::events ? "events"
                                             : "the CPU runtime's clock";
}

Profile::Profile(detail::Passkey, ProfileSource source, std::string remark, LaunchTimes launches,
                 std::vector<NodeProfile> nodes, std::vector<NodeRun> timeline, std::vector<std::size_t> critical)
    : source_(source), remark_(std::move(remark)), launches_(launches), nodes_(std::move(nodes)),
      timeline_(std::move(timeline)), critical_(std::move(critical)) {}

const NodeProfile* Profile::find(std::string_view label) const noexcept {
    const auto found = std::ranges::find(nodes_, label, &NodeProfile::label);
    return found == nodes_.end() ? nullptr : &*found;
}

double Profile::critical_time() const noexcept {
    return critical_.empty() ? 0 : timeline_[critical_.back()].end - timeline_[critical_.front()].begin;
}

double Profile::critical_busy_time() const noexcept {
    return std::accumulate(critical_.begin(), critical_.end(), 0.0, [&](double sum, std::size_t run) {
        return sum + timeline_[run].end - timeline_[run].begin;
    });
}

std::vector<double> Profile::durations() const {
    std::vector<double> list;
    for (const NodeProfile& node : nodes_)
        if (!node.outer) list.push_back(node.duration.median);
    return list;
}

std::string Profile::to_string() const {
    std::string text = fmt::format("profile of {} launch{} by {}, times in us (medians)\n", launches(),
                                   launches() == 1 ? "" : "es", cudag::to_string(source_));
    text += fmt::format("GPU time {:.1f}, idle {:.1f}, concurrency {:.2f}", gpu_time().median, idle_time().median,
                        concurrency());
    if (launch_gap()) text += fmt::format(", launch gap {:.1f}", launch_gap()->median);
    text += fmt::format("\ncritical path {:.1f}, in which its nodes run for {:.1f}: {}\n", critical_time(),
                        critical_busy_time(), list_path(*this));
    const std::set<int> devices = detail::devices_in(*this);
    const bool is_on_several = devices.size() > 1;
    for (const int device : devices)
        if (is_on_several) text += fmt::format("device {} is busy for {:.1f}\n", device, busy_time(*this, device));
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].runs != 0) order.push_back(i);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return nodes_[i].duration.median; });
    text += fmt::format("  {:>9} {:>8} {:>7} {:>9} {:>6} {:>5}{}  node\n", "duration", "spread", "share", "start",
                        "runs", "lane", is_on_several ? " device" : "");
    for (const std::size_t i : order) {
        const NodeProfile& node = nodes_[i];
        const double share = gpu_time().median == 0 ? 0 : 100 * node.duration.median / gpu_time().median;
        const std::string device = node.device ? std::to_string(*node.device) : "";
        text +=
            fmt::format("{} {:>9.1f} {:>8.1f} {:>5.1f} % {:>9.1f} {:>6.4g} {:>5}{}  {}\n", node.is_critical ? '*' : ' ',
                        node.duration.median, node.duration.spread, share, node.start.median, node.runs, node.lane,
                        is_on_several ? fmt::format(" {:>6}", device) : "", node.description);
    }
    if (const std::size_t rest = nodes_.size() - order.size(); rest != 0)
        text += fmt::format("{} node{} without times\n", rest, rest == 1 ? "" : "s");
    if (!remark_.empty()) text += fmt::format("not by CUPTI: {}\n", remark_);
    return text;
}

} // namespace cudag
