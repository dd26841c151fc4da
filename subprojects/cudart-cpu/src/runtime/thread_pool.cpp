// Helper threads of launches, to run nodes at the same time.
#include "thread_pool.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace cudart_cpu::detail {

namespace {

class Pool {
  public:
    static Pool& instance() {
        static auto& pool = *new Pool; // never destroyed: its threads run until the process ends
        return pool;
    }

    void add(std::function<void()> task, unsigned threads) {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        if (idle_ < tasks_.size() && started_ < threads) start_thread();
        added_.notify_one();
    }

  private:
    void start_thread() {
        try {
            std::thread([this] { run(); }).detach();
            ++started_;
        } catch (const std::system_error&) {
            // No thread can be added: the task waits for an existing one. Its launch does not wait for the task.
        }
    }

    [[noreturn]] void run() {
        for (std::unique_lock lock(mutex_);;) {
            ++idle_;
            added_.wait(lock, [this] { return !tasks_.empty(); });
            --idle_;
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            task = nullptr;
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable added_;
    std::deque<std::function<void()>> tasks_;
    std::size_t idle_ = 0;
    std::size_t started_ = 0;
};

} // namespace

void run_in_pool(std::function<void()> task, unsigned threads) {
    Pool::instance().add(std::move(task), threads);
}

} // namespace cudart_cpu::detail
