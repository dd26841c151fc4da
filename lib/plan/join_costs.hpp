// When an empty kernel is the quicker join.
#pragma once

#include <cstddef>
#include <optional>

namespace cudag::detail {

/// What a GPU makes of joins, by how many times as many edges they need without a kernel as with one:
/// before * after / (before + after). From `bench/joins`.
struct JoinCosts {
    /// Above this, edges that were written from each to each are worse than a kernel between: neither the time on the
    /// GPU nor that of the launch call is then more than 2 % longer with a kernel, of any block that was measured.
    double edges_up_to;
    /// The same for a join that was written, which is slow as it is: above this a kernel is better than edges, over
    /// all.
    double joins_up_to;

    /// How many edges there are without a kernel for each that there is with one.
    [[nodiscard]] static constexpr double edge_ratio(std::size_t before, std::size_t after) noexcept {
        return static_cast<double>(before) * static_cast<double>(after) / static_cast<double>(before + after);
    }
};

/// Those of GPUs with a compute capability of `major`.`minor`, or of the most similar ones that were measured.
[[nodiscard]] JoinCosts join_costs(int major, int minor) noexcept;

/// What a plan gains, for texts, not for choices. In microseconds, medians over what was measured: single graphs gain
/// half of it, or twice.
struct JoinGains {
    /// An empty node becomes what is quickest: for each node before and after it, where there are several of both.
    /// From `bench/joins`.
    double node_call;
    double node_gpu;
    /// Edges from each to each become a kernel: likewise.
    double block_call;
    double block_gpu;
    /// One edge less. From `bench/joins` and `bench/plan`.
    double edge_instantiate;
    /// Of nodes that a graph begins with, for each, where it begins with one instead. From `bench/plan`.
    double begin_call;
};

/// Those of GPUs with a compute capability of `major`.`minor`; nothing where no such one was measured.
[[nodiscard]] std::optional<JoinGains> join_gains(int major, int minor) noexcept;

} // namespace cudag::detail
