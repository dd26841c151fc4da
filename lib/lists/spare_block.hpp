// An allocator for objects made one after another: it keeps the memory of the last one.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace cudag::detail {

// AddressSanitizer finds uses of freed memory only.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_spare_blocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool keeps_spare_blocks = false;
#else
inline constexpr bool keeps_spare_blocks = true;
#endif
#else
inline constexpr bool keeps_spare_blocks = true;
#endif

/// An allocator that keeps one freed block for the next object of type T. malloc looks for a block of more than 1 KiB
/// in long lists, which takes as long as adding a few nodes to a graph; programs that make graphs one after another
/// need the same blocks each time.
template <class T>
class SpareBlock {
  public:
    using value_type = T;

    SpareBlock() noexcept = default;
    template <class Other>
    SpareBlock(const SpareBlock<Other>&) noexcept {} // not explicit: std::allocate_shared converts it

    [[nodiscard]] T* allocate(std::size_t count) {
        if (count == 1)
            if (T* const block = spare.exchange(nullptr, std::memory_order_acquire)) return block;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* block, std::size_t count) noexcept {
        T* expected = nullptr;
        if (keeps_spare_blocks && count == 1 &&
            spare.compare_exchange_strong(expected, block, std::memory_order_release, std::memory_order_relaxed))
            return;
        std::allocator<T>().deallocate(block, count);
    }
    friend bool operator==(const SpareBlock&, const SpareBlock&) = default;

  private:
    static inline constinit std::atomic<T*> spare = nullptr;
};

/// Makes an object in the spare block, or in a new one.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_shared_in_spare(Arguments&&... arguments) {
    return std::allocate_shared<T>(SpareBlock<T>(), std::forward<Arguments>(arguments)...);
}

} // namespace cudag::detail
