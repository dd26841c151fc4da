// The threads behind the streams, and their end at the end of the process.
#include "worker_threads.hpp"

#include "runtime/call.hpp"
#include "runtime/environment.hpp"
#include "work_queue.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace cudart_cpu::detail {

namespace {

class WorkerThreads {
  public:
    /// The instance is never destroyed: calls may come after main().
    static WorkerThreads& instance() {
        static auto* threads = new WorkerThreads;
        return *threads;
    }

    void start(std::shared_ptr<WorkQueue> queue) {
        const std::lock_guard lock(mutex_);
        join_ended();
        if (stopping_) {
            fail(cudaErrorCudartUnloading, "the process is ending");
        }
        const auto worker = running_.emplace(running_.end());
        try {
            worker->queue = queue;
            worker->thread = std::thread([this, worker, queue = std::move(queue)]() mutable {
                queue->run_tasks();
                queue.reset();
                end(worker);
            });
        } catch (...) {
            running_.erase(worker);
            throw;
        }
    }

    /// Drops tasks that have not begun and waits for the running ones. The wait is bounded: a host function that never
    /// returns must not keep the process from ending.
    void stop() {
        std::unique_lock lock(mutex_);
        stopping_ = true;
        std::vector<std::shared_ptr<WorkQueue>> queues;
        for (Worker& worker : running_) {
            if (worker.thread.get_id() == std::this_thread::get_id()) {
                // A host function called exit(): this thread cannot wait for itself.
                worker.thread.detach();
                worker.detached = true;
            }
            if (auto queue = worker.queue.lock()) {
                queues.push_back(std::move(queue));
            }
        }
        lock.unlock();
        for (const auto& queue : queues) {
            queue->abandon();
        }
        queues.clear();
        lock.lock();
        changed_.wait_for(lock, std::chrono::seconds(2),
                          [this] { return std::ranges::all_of(running_, &Worker::detached); });
        for (Worker& worker : running_) {
            if (!worker.detached) {
                worker.thread.detach();
                worker.detached = true;
            }
        }
        join_ended();
    }

  private:
    struct Worker {
        std::thread thread;
        std::weak_ptr<WorkQueue> queue;
        bool detached = false;
    };

    /// Removes the worker: its thread's last act.
    void end(std::list<Worker>::iterator worker) {
        const std::lock_guard lock(mutex_);
        if (!worker->detached) {
            ended_.push_back(std::move(worker->thread));
        }
        running_.erase(worker);
        changed_.notify_all();
    }

    void join_ended() {
        for (std::thread& thread : ended_) {
            thread.join();
        }
        ended_.clear();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Worker> running_;
    std::vector<std::thread> ended_;
    bool stopping_ = false;
};

/// Stops the workers when the library's static objects are destroyed: after the program's own.
struct StopAtExit {
    StopAtExit() = default;
    StopAtExit(const StopAtExit&) = delete;
    StopAtExit& operator=(const StopAtExit&) = delete;
    ~StopAtExit() {
        if (!is_forked_child()) WorkerThreads::instance().stop();
    }
};

const StopAtExit stop_at_exit;

} // namespace

void start_worker(std::shared_ptr<WorkQueue> queue) {
    WorkerThreads::instance().start(std::move(queue));
}

} // namespace cudart_cpu::detail
