// Launches that hold up their call for copies to pageable memory, and the copies behind those.
#pragma once

#include "exec_flat.hpp"
#include "stream/completion.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

/// The copies of one launch for which its call waits, and the staged copies after them. A GPU's driver enqueues the
/// nodes of a launch in turn, and waits at a copy to pageable memory: a later copy from pageable memory reads the new
/// content. All other staged copies are staged before the work is enqueued.
class PageableCopies {
  public:
    /// Requires a graph with copies that hold up its launches; it must outlive this.
    explicit PageableCopies(const LaunchGraph& graph);
    PageableCopies(const PageableCopies&) = delete;
    PageableCopies& operator=(const PageableCopies&) = delete;
    ~PageableCopies(); ///< finishes `done()` if the launch does not run

    /// Finishes when the call may return.
    [[nodiscard]] const CompletionPtr& done() const noexcept { return done_; }

    /// Replaces works in `works`, one for each node, by works that report their end to `copies`.
    static void put(const std::shared_ptr<PageableCopies>& copies, const LaunchGraph& graph,
                    std::vector<WorkPointer>& works);

  private:
    class HoldingRun;
    class LateRun;

    void finish(std::size_t holding);
    [[nodiscard]] WorkPointer late(std::size_t number);

    struct Late {
        WorkPointer original;
        WorkPointer staged;
        std::size_t missing; ///< unfinished copies before it
    };

    const LaunchGraph& graph_;
    std::mutex mutex_;
    std::vector<Late> late_; ///< at the same places as LaunchGraph::late
    std::size_t unfinished_;
    CompletionPtr done_ = std::make_shared<Completion>();
};

} // namespace cudart_cpu::detail
