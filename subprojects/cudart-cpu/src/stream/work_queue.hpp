// Tasks that run in order on one thread.
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

/// For a task that runs on this thread: how many objects that kernels find by number had been removed when it was
/// pushed.
std::uint64_t removals_at_submission() noexcept;

/// The thread starts with the first task, and ends when the queue is closed and empty. It keeps the queue alive.
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

    /// No more tasks will come.
    void close();

    /// Whether all tasks so far have finished, which then comes before what follows this call.
    [[nodiscard]] bool is_idle() const;

    /// Closes, and drops the tasks that have not begun; they count as finished. For the end of the process.
    void abandon();

    /// The thread's work.
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
