// Runs of the nodes of one launch.
#include "exec_run.hpp"

#include "exec_readiness.hpp"
#include "kernel/grid_dependencies.hpp"
#include "kernel/launch_context.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/thread_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>

namespace cudart_cpu::detail {

namespace {

/// Runs one work. Its kernel calls `wait` to wait for the `awaited` nodes.
void run_work(const WorkPointer& work, const std::vector<std::uint32_t>& awaited, const std::function<void()>& wait) {
    if (!work || has_kernel_failed()) return;
    const GridDependencyScope scope(awaited.empty() ? nullptr : &wait);
    work->run();
}

class SequentialRun {
  public:
    SequentialRun(const LaunchShape& shape, const std::vector<WorkPointer>& works)
        : shape_(shape), works_(works), started_(works.size()) {}

    void run(std::uint32_t node) {
        if (started_[node]) return;
        started_[node] = true;
        run_work(works_[node], shape_.awaited[node], [&] { run_all(shape_.awaited[node]); });
        run_all(shape_.producers[node]); // a kernel never ends before its producers
    }

  private:
    void run_all(const std::vector<std::uint32_t>& nodes) {
        for (const std::uint32_t node : nodes)
            run(node);
    }

    const LaunchShape& shape_;
    const std::vector<WorkPointer>& works_;
    std::vector<bool> started_; // a producer never waits for a node below it on the stack: that would be a cycle
};

/// Shared with helpers, which may come too late: a late helper touches only this object, never the launch.
class ConcurrentRun {
  public:
    ConcurrentRun(const LaunchShape& shape, const std::vector<WorkPointer>& works,
                  const std::vector<std::uint32_t>& order)
        : shape_(shape), works_(works), order_(order), rank_(order.size()), readiness_(shape),
          progress_(order.size(), Progress::waiting), unstarted_(order.size()), unfinished_(order.size()) {
        for (std::uint32_t rank = 0; rank < order.size(); ++rank)
            rank_[order[rank]] = rank;
        readiness_.start([this](std::uint32_t node) { ready_.push(rank_[node]); });
    }

    /// Runs nodes until all have started.
    void help() {
        std::unique_lock lock(mutex_);
        while (unstarted_ > 0) {
            if (ready_.empty()) {
                changed_.wait(lock);
                continue;
            }
            const std::uint32_t node = order_[ready_.top()];
            ready_.pop();
            if (progress_[node] == Progress::waiting) run(node, lock);
        }
    }

    void wait_for_helpers() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return unfinished_ == 0; });
    }

  private:
    enum class Progress : unsigned char { waiting, started, finished };

    void run(std::uint32_t node, std::unique_lock<std::mutex>& lock) {
        progress_[node] = Progress::started;
        --unstarted_;
        lock.unlock();
        run_work(works_[node], shape_.awaited[node], [&] {
            std::unique_lock waiting(mutex_);
            finish(shape_.awaited[node], waiting);
        });
        lock.lock();
        finish(shape_.producers[node], lock); // a kernel never ends before its producers
        progress_[node] = Progress::finished;
        --unfinished_;
        std::size_t made_ready = 0;
        readiness_.finish(node, [&](std::uint32_t next) {
            ready_.push(rank_[next]);
            ++made_ready;
        });
        // This thread takes one of the ready nodes itself: a line of nodes wakes no other thread.
        if (made_ready > 1 || unstarted_ == 0 || !shape_.consumers[node].empty()) changed_.notify_all();
    }

    /// Runs the producers not yet started, and waits for those that other threads run. Waits form no circle: on every
    /// thread's stack a node stands on one that it precedes in the graph, and waits for one that precedes it.
    void finish(const std::vector<std::uint32_t>& producers, std::unique_lock<std::mutex>& lock) {
        for (const std::uint32_t producer : producers) {
            if (progress_[producer] == Progress::waiting) run(producer, lock);
            changed_.wait(lock, [&] { return progress_[producer] == Progress::finished; });
        }
    }

    const LaunchShape& shape_;
    const std::vector<WorkPointer>& works_;
    const std::vector<std::uint32_t>& order_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::uint32_t> rank_; // the place of each node in the order
    Readiness readiness_;
    std::vector<Progress> progress_;
    /// Ranks of ready nodes, including nodes that a consumer has run in the meantime.
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_;
    std::size_t unstarted_;
    std::size_t unfinished_;
};

} // namespace

void run_nodes(const LaunchShape& shape, const std::vector<WorkPointer>& works, const std::vector<std::uint32_t>& order,
               unsigned workers) noexcept {
    if (workers == 1) {
        SequentialRun run(shape, works);
        for (const std::uint32_t node : order)
            run.run(node);
        return;
    }
    const auto run = std::make_shared<ConcurrentRun>(shape, works, order);
    LaunchContext* const context = current_launch();
    const std::size_t helpers = std::min<std::size_t>(workers, order.size());
    for (std::size_t i = 1; i < helpers; ++i)
        run_in_pool(
            [run, context] {
                const LaunchScope scope(context);
                run->help();
            },
            workers - 1);
    run->help();
    run->wait_for_helpers();
}

} // namespace cudart_cpu::detail
