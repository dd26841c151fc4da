// Launches that hold up their call: copies to pageable memory, and what they let be read.
#pragma once

#include "exec_flat.hpp"
#include "stream/completion.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

/// The copies of one launch that its call waits for, and the staged copies that come after them. A GPU's driver
/// enqueues the nodes of a launch in turn, and waits where a copy writes pageable memory: a copy from pageable memory
/// behind it finds what the first one wrote. Those that come after no such copy are staged before the work is enqueued.
class PageableCopies {
  public:
    /// Of a graph whose launches are held up. It must outlive this.
    explicit PageableCopies(const LaunchGraph& graph);
    PageableCopies(const PageableCopies&) = delete;
    PageableCopies& operator=(const PageableCopies&) = delete;
    ~PageableCopies(); ///< of a launch that does not run

    /// Finishes when the call may return.
    [[nodiscard]] const CompletionPtr& done() const noexcept { return done_; }

    /// Puts the works that keep account into the place of those of `works`, one for each node.
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
        std::size_t missing; ///< copies that come before it
    };

    const LaunchGraph& graph_;
    std::mutex mutex_;
    std::vector<Late> late_; ///< as in LaunchGraph::late
    std::size_t unfinished_;
    CompletionPtr done_ = std::make_shared<Completion>();
};

} // namespace cudart_cpu::detail
