// Costs of joins: when an empty kernel is faster than edges.
#pragma once

#include <cstddef>
#include <optional>

namespace cudag::detail {

/// Thresholds of a GPU for joins, as the ratio of edges without a kernel to edges with one: before * after / (before +
/// after). From `bench/joins`. No other form is worth it: on an H100, 2 to 8 kernels side by side launch and
/// instantiate slower than one, and trees of kernels gain less of the instantiation than 70 launches lose.
struct JoinCosts {
    /// Above this ratio, a kernel replaces written edges from each to each: neither the time on the GPU nor that of the
    /// launch call is then more than 2 % longer with a kernel, for any measured block.
    double edges_up_to;
    /// The threshold for a written join, which is slow as it is: above this ratio a kernel is better than edges,
    /// overall.
    double joins_up_to;
    /// Up to this ratio edges are instantiated about as quickly as an empty node: they gain in the first launch. From
    /// a separate measurement of joins in a row; so are the numbers of `for_launches`.
    double edges_at_once = 0;
    /// The number of launches that repay the slower instantiation of what replaces an empty node, and of kernels at the
    /// ends. From `bench/plan`: the difference in instantiation and the gain of a launch grow alike with the nodes.
    unsigned repaid_by = 4;

    /// The costs for so many launches: few of them do not repay the edges that a kernel saves the instantiation.
    [[nodiscard]] JoinCosts for_launches(unsigned launches) const noexcept;

    /// The number of edges without a kernel for each edge with one.
    [[nodiscard]] static constexpr double edge_ratio(std::size_t before, std::size_t after) noexcept {
        return static_cast<double>(before) * static_cast<double>(after) / static_cast<double>(before + after);
    }
};

/// The costs for GPUs with compute capability `major`.`minor`, or for the most similar measured ones.
[[nodiscard]] JoinCosts join_costs(int major, int minor) noexcept;

/// Estimated gains of a plan, for texts, not for choices. In microseconds, medians over all measurements; a single
/// graph may gain half or twice as much.
struct JoinGains {
    /// Gain when an empty node becomes the fastest form: for each node before and after it, if there are several of
    /// both. From `bench/joins`.
    double node_call;
    double node_gpu;
    /// Gain when edges from each to each become a kernel: for each node before and after it, likewise.
    double block_call;
    double block_gpu;
    /// Gain for each edge less. From `bench/joins` and `bench/plan`.
    double edge_instantiate;
    /// Gain for each first node when the graph begins with one node instead. From `bench/plan`.
    double begin_call;
};

/// The gains for GPUs with compute capability `major`.`minor`; nothing if none was measured.
[[nodiscard]] std::optional<JoinGains> join_gains(int major, int minor) noexcept;

} // namespace cudag::detail
