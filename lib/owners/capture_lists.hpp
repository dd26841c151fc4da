// A list for each capture in progress, filled from any thread.
#pragma once

#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The lists of all captures begun by cudag, by CUDA's number of the capture.
template <class Item>
class CaptureLists {
  public:
    using List = std::vector<Item>;

    void begin(unsigned long long capture) {
        const std::scoped_lock lock(mutex_);
        lists_[capture];
    }
    /// Removes the list of `capture`, and returns it: items may run user code as they go, which the lock forbids.
    List end(unsigned long long capture) noexcept {
        const std::scoped_lock lock(mutex_);
        const auto found = lists_.find(capture);
        List list = std::move(found->second);
        lists_.erase(found);
        return list;
    }
    /// Calls `use(list)` under the lock; returns false, without a call, if cudag did not begin `capture`.
    template <class Use>
    bool with(unsigned long long capture, const Use& use) {
        const std::scoped_lock lock(mutex_);
        const auto found = lists_.find(capture);
        if (found == lists_.end()) return false;
        use(found->second);
        return true;
    }

  private:
    std::mutex mutex_;
    std::unordered_map<unsigned long long, List> lists_;
};

} // namespace cudag::detail
