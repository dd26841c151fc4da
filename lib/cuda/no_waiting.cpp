// Resources whose release may wait for the device.
#include "no_waiting.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace cudag::detail {

/// A resource that may be left over.
struct WaitingRelease::Left {
    void (*release)(void*);
    void* resource = nullptr;
    std::shared_ptr<Left> itself = nullptr; ///< while it is in the list
    Left* next = nullptr;
};

namespace {

std::atomic<WaitingRelease::Left*> left_over = nullptr;

} // namespace

WaitingRelease::WaitingRelease(void (*release)(void*)) : left_(std::make_shared<Left>(Left{release})) {}

void WaitingRelease::operator()(void* resource) const noexcept {
    if (!NoWaiting::is_in_force()) return left_->release(resource);
    Left* const left = left_.get();
    left->resource = resource;
    left->itself = left_;
    left->next = left_over.load(std::memory_order_relaxed);
    while (!left_over.compare_exchange_weak(left->next, left, std::memory_order_release, std::memory_order_relaxed))
        ;
}

bool has_left_over() noexcept {
    return left_over.load(std::memory_order_relaxed) != nullptr;
}

void release_left_over() noexcept {
    WaitingRelease::Left* left = left_over.exchange(nullptr, std::memory_order_acquire);
    while (left != nullptr) {
        const std::shared_ptr<WaitingRelease::Left> last = std::move(left->itself);
        left = last->next;
        last->release(last->resource);
    }
}

} // namespace cudag::detail
