// Keeps a stream busy until it is opened.
#pragma once

#include "check.hpp"

#include <condition_variable>
#include <mutex>

class Gate {
  public:
    /// The stream's work from now on waits for open().
    void close(cudaStream_t stream) {
        CHECK_OK(cudaLaunchHostFunc(
            stream, [](void* gate) { static_cast<Gate*>(gate)->pass(); }, this));
    }

    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    void pass() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return open_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};
