// ProfileDiff: the comparison of two profiles.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/measured_time.hpp>
#include <cudag/profile.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

/// A node in two profiles. One of the times is missing if the node ran in one profile only.
struct NodeTimes {
    std::string name; ///< the description in the later profile, if it is there
    std::optional<MeasuredTime> before = std::nullopt;
    std::optional<MeasuredTime> after = std::nullopt;

    /// Returns the change of the duration in microseconds; a missing time counts as 0.
    [[nodiscard]] double change() const noexcept {
        return after.value_or(MeasuredTime()).median - before.value_or(MeasuredTime()).median;
    }
};

/// The difference of two profiles.
///
///     const cudag::Profile before = cudag::profile(exec, stream);
///     exec.disable(graph.find_one(scale));
///     const cudag::ProfileDiff changes = diff(before, cudag::profile(exec, stream));
///     std::puts(changes.to_string().c_str());
///     for (const cudag::NodeTimes& node : changes.slower())
///         std::printf("%s: %+.1f us\n", node.name.c_str(), node.change());
class CUDAG_EXPORT ProfileDiff {
  public:
    ProfileDiff(detail::Passkey, NodeTimes gpu_time, std::vector<NodeTimes> slower, std::vector<NodeTimes> faster,
                std::vector<NodeTimes> same, std::vector<NodeTimes> unmatched)
        : gpu_time_(std::move(gpu_time)), slower_(std::move(slower)), faster_(std::move(faster)),
          same_(std::move(same)), unmatched_(std::move(unmatched)) {}

    /// Returns the GPU times of both profiles.
    [[nodiscard]] const NodeTimes& gpu_time() const noexcept { return gpu_time_; }
    /// Return the nodes with clearly longer or shorter durations: by more than both spreads together, and by more than
    /// 2 %. The largest change comes first.
    [[nodiscard]] const std::vector<NodeTimes>& slower() const noexcept { return slower_; }
    [[nodiscard]] const std::vector<NodeTimes>& faster() const noexcept { return faster_; }
    /// Returns the other nodes of both profiles.
    [[nodiscard]] const std::vector<NodeTimes>& same() const noexcept { return same_; }
    /// Returns the nodes with runs in one profile only, the longest first.
    [[nodiscard]] const std::vector<NodeTimes>& unmatched() const noexcept { return unmatched_; }

    /// Returns the GPU times, and a table of the nodes that differ.
    [[nodiscard]] std::string to_string() const;

  private:
    NodeTimes gpu_time_;
    std::vector<NodeTimes> slower_;
    std::vector<NodeTimes> faster_;
    std::vector<NodeTimes> same_;
    std::vector<NodeTimes> unmatched_;
};

[[nodiscard]] inline std::string to_string(const ProfileDiff& diff) {
    return diff.to_string();
}

/// Compares two profiles node by node: of two versions of a program, two plans, two devices. Two nodes match if kind,
/// kernel and label are equal and those of the nodes around them match; of several such nodes, the first matches the
/// first, and so on. Only nodes that ran are compared, without nodes around others.
[[nodiscard]] CUDAG_EXPORT ProfileDiff diff(const Profile& before, const Profile& after);

} // namespace cudag
