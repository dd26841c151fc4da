// Objects found by kernels by number, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace cudart_cpu::detail {

/// The number of removals of such objects. Work records it when it is submitted: it may use objects removed later.
inline std::atomic<std::uint64_t> object_removals{0};

/// A table of objects by number. Numbers are never reused: each combines a slot with the count of its uses. Kernels may
/// use removed objects, so an object stays in memory until many others were removed and the work pending at its removal
/// has ended.
template <class T>
class ObjectSlots {
  public:
    ObjectSlots() = default;
    ObjectSlots(const ObjectSlots&) = delete;
    ObjectSlots& operator=(const ObjectSlots&) = delete;
    ~ObjectSlots() {
        for (const std::atomic<Chunk*>& chunk : chunks_) {
            const std::unique_ptr<Chunk> owned(chunk.load(std::memory_order_relaxed));
            if (owned == nullptr) continue;
            for (const Slot& slot : *owned)
                delete slot.object.load(std::memory_order_relaxed);
        }
    }

    /// Adds an object and returns its number; 0 if all slots are taken.
    std::uint64_t add(std::unique_ptr<const T> object) {
        const std::lock_guard lock(mutex_);
        const std::size_t index = can_reuse() ? take_removed() : used_;
        if (index >= chunk_count * chunk_size) return 0;
        std::atomic<Chunk*>& chunk = chunks_[index / chunk_size];
        if (chunk.load(std::memory_order_relaxed) == nullptr)
            chunk.store(new Chunk, std::memory_order_release); // never freed before the table
        if (index == used_) ++used_;
        Slot& slot = (*chunk.load(std::memory_order_relaxed))[index % chunk_size];
        const std::uint64_t number = slot.uses++ << index_bits | (index + 1);
        slot.removed_number.store(0, std::memory_order_release);
        delete slot.object.exchange(object.release(), std::memory_order_relaxed);
        slot.number.store(number, std::memory_order_release);
        return number;
    }

    /// Returns the object; null for a number without an object.
    [[nodiscard]] const T* find(std::uint64_t number) const noexcept {
        const Slot* const slot = slot_of(number);
        return slot == nullptr ? nullptr : slot->object.load(std::memory_order_relaxed);
    }

    /// Returns the object, even if it was removed after `submitted`, a count of removals.
    [[nodiscard]] const T* find(std::uint64_t number, std::uint64_t submitted) const noexcept {
        if (const T* const object = find(number)) return object;
        const Slot* const slot = slot_at(number);
        if (slot == nullptr || slot->removed_number.load(std::memory_order_acquire) != number) return nullptr;
        return slot->removal.load(std::memory_order_relaxed) > submitted ? slot->object.load(std::memory_order_relaxed)
                                                                         : nullptr;
    }

    /// Removes the object; false if there is none. `is_pending` reports whether work from before the removal has not
    /// ended yet.
    bool remove(std::uint64_t number, std::function<bool()> is_pending = nullptr) {
        const std::lock_guard lock(mutex_);
        if (slot_of(number) == nullptr) return false;
        remove_slot((number & index_mask) - 1, std::move(is_pending));
        return true;
    }

    template <class Choose>
    void remove_if(Choose&& choose, const std::function<bool()>& is_pending = nullptr) {
        const std::lock_guard lock(mutex_);
        for (std::size_t index = 0; index < used_; ++index) {
            const Slot& slot = at(index);
            if (slot.number.load(std::memory_order_relaxed) != 0 &&
                choose(*slot.object.load(std::memory_order_relaxed)))
                remove_slot(index, is_pending);
        }
    }

  private:
    static constexpr std::size_t chunk_size = 256;
    static constexpr std::size_t chunk_count = 4096;
    static constexpr std::size_t kept_after_removal = 4096;
    static constexpr unsigned index_bits = 32;
    static constexpr std::uint64_t index_mask = (std::uint64_t{1} << index_bits) - 1;

    struct Slot {
        std::atomic<std::uint64_t> number{0}; // 0: no object
        std::atomic<const T*> object{nullptr};
        std::atomic<std::uint64_t> removed_number{0};
        std::atomic<std::uint64_t> removal{0}; // count of removals, including this one
        std::uint64_t uses = 0;
    };
    using Chunk = std::array<Slot, chunk_size>;

    Slot& at(std::size_t index) const noexcept {
        return (*chunks_[index / chunk_size].load(std::memory_order_acquire))[index % chunk_size];
    }

    struct Removed {
        std::size_t index;
        std::function<bool()> is_pending;
    };

    /// Returns the number's slot, with any content; null if there is no such slot.
    const Slot* slot_at(std::uint64_t number) const noexcept {
        const std::uint64_t index = (number & index_mask) - 1;
        if (number == 0 || index >= chunk_count * chunk_size) return nullptr;
        if (chunks_[index / chunk_size].load(std::memory_order_acquire) == nullptr) return nullptr;
        return &at(index);
    }

    const Slot* slot_of(std::uint64_t number) const noexcept {
        const Slot* const slot = slot_at(number);
        return slot != nullptr && slot->number.load(std::memory_order_acquire) == number ? slot : nullptr;
    }

    bool can_reuse() const {
        return removed_.size() > kept_after_removal && !(removed_.front().is_pending && removed_.front().is_pending());
    }

    std::size_t take_removed() {
        const std::size_t index = removed_.front().index;
        removed_.pop_front();
        return index;
    }

    void remove_slot(std::size_t index, std::function<bool()> is_pending) {
        removed_.push_back({index, std::move(is_pending)});
        Slot& slot = at(index);
        slot.removal.store(++object_removals, std::memory_order_relaxed);
        slot.removed_number.store(slot.number.load(std::memory_order_relaxed), std::memory_order_release);
        slot.number.store(0, std::memory_order_release);
    }

    std::mutex mutex_;
    std::array<std::atomic<Chunk*>, chunk_count> chunks_{};
    std::size_t used_ = 0;
    std::deque<Removed> removed_;
};

} // namespace cudart_cpu::detail
