// agree: compares the graphs of several ranks before their first launch. plan_of_rank: one plan for all of them.
#pragma once

#include <cudag/config.hpp>
#include <cudag/error.hpp>
#include <cudag/fingerprint.hpp>
#include <cudag/tuned_plan.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace cudag {

/// An all-gather between ranks: sends `mine`, and fills `all` with the bytes of every rank, in the order of the ranks.
/// `all` has one part of `mine.size()` bytes for each rank. MPI_Allgather is one, with `MPI_BYTE` and `mine.size()`.
///
///     cudag::AllGather alone = [](std::span<const std::byte> mine, std::span<std::byte> all) {
///         std::ranges::copy(mine, all.begin()); // of a single rank
///     };
using AllGather = std::function<void(std::span<const std::byte> mine, std::span<std::byte> all)>;

/// Reports ranks whose graphs differ. `line()` is the number of the first line that differs in their fingerprints.
class CUDAG_EXPORT RanksDifferError : public GraphError {
  public:
    RanksDifferError(const std::string& text, std::size_t line)
        : GraphError(cudaErrorInvalidValue, text), line_(line) {}
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

  private:
    std::size_t line_;
};

/// Compares `mine` with the fingerprints of all other ranks. All ranks call it, before the first launch of their
/// graphs:
///
///     cudag::agree(cudag::fingerprint(graph), ranks, gather);
///
/// Calls `gather` once if all agree, otherwise some log2(nodes) times more; in each call, all ranks send equally many
/// bytes, at most 512. Throws RanksDifferError on every rank, with the same text: each version of the first differing
/// line, with its ranks. Throws GraphError for `ranks` less than 1, or if `gather` does not return the bytes of this
/// rank, and the exceptions of `gather`.
CUDAG_EXPORT void agree(const Fingerprint& mine, std::size_t ranks, const AllGather& gather);

/// Returns the plan of rank `from`, on all ranks. All ranks call it, after a `tune` on each of them:
///
///     cudag::Tuned tuned = cudag::tune(graph, stream);
///     cudag::TunedPlan same = cudag::plan_of_rank(0, tuned.plan, ranks, gather);
///     cudag::Exec exec = graph.instantiate({.plan = same.plan_for(graph)});
///
/// Throws GraphError for a rank that does not exist, and as `agree` does. Calls `gather` twice.
[[nodiscard]] CUDAG_EXPORT TunedPlan plan_of_rank(std::size_t from, const TunedPlan& mine, std::size_t ranks,
                                                  const AllGather& gather);

} // namespace cudag
