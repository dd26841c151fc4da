// Queues of tasks that run in order on one thread.
#include "work_queue.hpp"

#include "memory/object_slots.hpp"
#include "worker_threads.hpp"

namespace cudart_cpu::detail {

namespace {

thread_local std::uint64_t removals_before = 0;

} // namespace

std::uint64_t removals_at_submission() noexcept {
    return removals_before;
}

CompletionPtr WorkQueue::push(std::function<void()> run, std::vector<CompletionPtr> after) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(run), std::move(after), std::make_shared<Completion>(), object_removals.load()});
    if (!started_) {
        try {
            start_worker(shared_from_this());
        } catch (...) {
            tasks_.pop_back();
            throw;
        }
        started_ = true;
    }
    tail_ = tasks_.back().done;
    changed_.notify_one();
    return tail_;
}

CompletionPtr WorkQueue::tail() const {
    const std::lock_guard lock(mutex_);
    return tail_;
}

void WorkQueue::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
}

bool WorkQueue::is_idle() const {
    const std::lock_guard lock(mutex_);
    return tail_ == nullptr || tail_->finished();
}

void WorkQueue::abandon() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    abandoned_ = true;
    changed_.notify_one();
}

bool WorkQueue::abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
}

void WorkQueue::run(Task task) const {
    // The task waits for work enqueued earlier only, so queues never wait for each other in a circle.
    for (const CompletionPtr& completion : task.after) {
        completion->wait();
    }
    removals_before = task.submitted;
    if (!abandoned()) {
        task.run();
    }
    task.run = nullptr;
    task.done->finish();
}

void WorkQueue::run_tasks() {
    run_until_closed();
    ended_(*this);
}

void WorkQueue::run_until_closed() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !tasks_.empty() || closed_; });
        if (tasks_.empty()) {
            return;
        }
        Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        run(std::move(task));
        lock.lock();
    }
}

} // namespace cudart_cpu::detail
