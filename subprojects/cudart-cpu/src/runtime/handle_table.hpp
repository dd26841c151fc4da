// Handles, never reused, and a table of the live objects of one kind by handle.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudart_cpu::detail {

/// Returns a number new to all kinds of handles, so that a dead handle is refused instead of followed. It is none of
/// CUDA's reserved numbers (cudaStreamLegacy is 1, cudaStreamPerThread is 2).
inline std::uintptr_t next_handle() noexcept {
    static std::atomic<std::uintptr_t> next{0x10000};
    return next.fetch_add(0x10, std::memory_order_relaxed);
}

/// Thread-safe map from opaque handles to shared objects.
template <class T, class Handle>
class HandleTable {
  public:
    Handle add(std::shared_ptr<T> object) {
        const auto handle = reinterpret_cast<Handle>(next_handle());
        const std::lock_guard lock(mutex_);
        objects_.emplace(handle, std::move(object));
        return handle;
    }

    /// Returns the object; null for a dead handle.
    [[nodiscard]] std::shared_ptr<T> find(Handle handle) const {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }

    /// Removes the object and returns it; null for a dead handle.
    std::shared_ptr<T> take(Handle handle) {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) {
            return nullptr;
        }
        std::shared_ptr<T> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }

    /// Removes the objects accepted by `choose`; they end after the lock is released.
    template <class Choose>
    void remove_if(Choose&& choose) {
        std::vector<std::shared_ptr<T>> removed;
        const std::lock_guard lock(mutex_);
        for (auto one = objects_.begin(); one != objects_.end();) {
            if (!choose(*one->second)) {
                ++one;
                continue;
            }
            removed.push_back(std::move(one->second));
            one = objects_.erase(one);
        }
    }

  private:
    mutable std::mutex mutex_;
    std::unordered_map<Handle, std::shared_ptr<T>> objects_;
};

} // namespace cudart_cpu::detail
