// Holds a host node until the test lets it go, so that a launch is surely in flight.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

/// Closed when made; opens for good, at the latest when it is destroyed.
class Gate {
  public:
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() { open(); }

    void open() {
        const std::scoped_lock lock(state_->mutex);
        state_->opened = true;
        state_->changed.notify_all();
    }

    /// A callable that returns once the gate is open; it may outlive the gate.
    [[nodiscard]] auto waiter() const {
        return [state = state_] {
            std::unique_lock lock(state->mutex);
            state->changed.wait(lock, [&] { return state->opened; });
        };
    }

  private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool opened = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};
