// Runs the nodes of one launch.
#include "exec_run.hpp"

#include "exec_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>

namespace cudart_cpu::detail {

namespace {

void run_work(const WorkPointer& work) {
    if (work) work->run();
}

/// Shared with helpers that may come too late: those touch only what is theirs, never the launch.
class ConcurrentRun {
  public:
    ConcurrentRun(const ExecShape& shape, const std::vector<WorkPointer>& works,
                  const std::vector<std::uint32_t>& order)
        : shape_(shape), works_(works), order_(order), rank_(order.size()), missing_(order.size()),
          unstarted_(order.size()), unfinished_(order.size()) {
        for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
            const std::uint32_t node = order[rank];
            rank_[node] = rank;
            missing_[node] = shape.dependencies[node].size();
            if (missing_[node] == 0) ready_.push(rank);
        }
    }

    /// Runs nodes until none is left to be started.
    void help() {
        std::unique_lock lock(mutex_);
        while (unstarted_ > 0) {
            if (ready_.empty())
                changed_.wait(lock);
            else
                run_next(lock);
        }
    }

    void wait_for_helpers() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return unfinished_ == 0; });
    }

  private:
    void run_next(std::unique_lock<std::mutex>& lock) {
        const std::uint32_t node = order_[ready_.top()];
        ready_.pop();
        --unstarted_;
        lock.unlock();
        run_work(works_[node]);
        lock.lock();
        --unfinished_;
        std::size_t made_ready = 0;
        for (const std::uint32_t dependent : shape_.dependents[node]) {
            if (--missing_[dependent] == 0) {
                ready_.push(rank_[dependent]);
                ++made_ready;
            }
        }
        // This thread takes one of them itself: a line of nodes wakes nobody.
        if (made_ready > 1 || unstarted_ == 0) changed_.notify_all();
    }

    const ExecShape& shape_;
    const std::vector<WorkPointer>& works_;
    const std::vector<std::uint32_t>& order_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::uint32_t> rank_; // of a node in the order
    std::vector<std::size_t> missing_;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_; // ranks
    std::size_t unstarted_;
    std::size_t unfinished_;
};

} // namespace

void run_nodes(const ExecShape& shape, const std::vector<WorkPointer>& works, const std::vector<std::uint32_t>& order,
               unsigned workers) noexcept {
    if (workers == 1) {
        for (const std::uint32_t node : order)
            run_work(works[node]);
        return;
    }
    const auto run = std::make_shared<ConcurrentRun>(shape, works, order);
    const std::size_t helpers = std::min<std::size_t>(workers, order.size());
    for (std::size_t i = 1; i < helpers; ++i)
        run_in_pool([run] { run->help(); }, workers - 1);
    run->help();
    run->wait_for_helpers();
}

} // namespace cudart_cpu::detail
