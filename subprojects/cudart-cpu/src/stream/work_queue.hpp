// Queues of tasks that run in order on one thread.
#pragma once

#include "completion.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cudart_cpu::detail {

/// For the task running on this thread: the count of removals (object_removals) when the task was pushed.
std::uint64_t removals_at_submission() noexcept;

/// A queue with one thread, started with the first task and ended when the queue is closed and empty. The thread keeps
/// the queue alive.
class WorkQueue : public std::enable_shared_from_this<WorkQueue> {
  public:
    using Ended = void (*)(const WorkQueue&);

    /// The thread calls `ended` last, after all tasks have finished.
    explicit WorkQueue(Ended ended) : ended_(ended) {}

    /// Appends a task that runs after `after` has finished. The result is finished when the task has returned and its
    /// captures are gone.
    CompletionPtr push(std::function<void()> run, std::vector<CompletionPtr> after);

    /// The last task pushed; null before the first.
    [[nodiscard]] CompletionPtr tail() const;

    /// Declares that no more tasks will come.
    void close();

    /// Whether all tasks so far have finished. If so, they happen before the code after this call.
    [[nodiscard]] bool is_idle() const;

    /// Closes the queue and drops the tasks that have not begun; they count as finished. For the end of the process.
    void abandon();

    /// Runs the tasks: the thread's function.
    void run_tasks();

  private:
    struct Task {
        std::function<void()> run;
        std::vector<CompletionPtr> after;
        CompletionPtr done;
        std::uint64_t submitted;
    };

    [[nodiscard]] bool abandoned() const;
    void run(Task task) const;
    void run_until_closed();

    const Ended ended_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    CompletionPtr tail_;
    bool started_ = false;
    bool closed_ = false;
    bool abandoned_ = false;
};

} // namespace cudart_cpu::detail
