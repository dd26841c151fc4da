// Memory for the parameters of nodes.
#pragma once

#include "lists/spare_block.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <vector>

namespace cudag::detail {

/// Memory blocks freed all at once. The first ones are in the arena itself: enough for a small graph.
class Arena {
  public:
    Arena() noexcept {} // not defaulted: std::make_shared would fill `first_` with zeros
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    [[nodiscard]] std::pmr::memory_resource& memory() noexcept {
        is_used_ = true;
        return memory_;
    }
    /// Allocates a block: a place in the arena itself while there is room.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
        is_used_ = true;
        const std::size_t place = (first_used_ + alignment - 1) / alignment * alignment;
        if (place + bytes > first_.size()) return memory_.allocate(bytes, alignment);
        first_used_ = place + bytes;
        return first_.data() + place;
    }
    [[nodiscard]] bool is_used() const noexcept { return is_used_; }

  private:
    alignas(std::max_align_t) std::array<std::byte, 2048> first_;
    std::size_t first_used_ = 0;
    std::pmr::monotonic_buffer_resource memory_{std::size_t{16} * 1024};
    bool is_used_ = false;
};

/// The arena of a graph, and arenas shared with clones.
class ParameterMemory {
  public:
    ParameterMemory() : arena_(make_shared_in_spare<Arena>()) {}

    /// Returns the memory of a clone: a new arena, along with all arenas of the blocks shared with the clone.
    [[nodiscard]] ParameterMemory of_clone() const {
        ParameterMemory memory;
        memory.origins_ = origins_;
        if (arena_->is_used()) memory.origins_.push_back(arena_);
        memory.regions_ = regions_;
        return memory;
    }
    /// Whether a clone of clones refers to so many arenas that it should copy all blocks instead.
    [[nodiscard]] bool has_many_origins() const noexcept { return origins_.size() > 8; }
    /// Drops the arenas of origins; no block in them may be in use.
    void forget_origins() noexcept { origins_.clear(); }

    [[nodiscard]] std::pmr::memory_resource& resource() noexcept { return arena_->memory(); }
    /// Allocate `count` objects of T, or a copy of one value.
    template <class T>
    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        static_assert(alignof(T) <= alignof(std::max_align_t));
        return static_cast<T*>(arena_->allocate(count * sizeof(T), alignof(T)));
    }
    template <class T>
    [[nodiscard]] const T* store(const T& value) {
        return new (allocate<T>(1)) T(value);
    }
    /// Allocates a block aligned for any type.
    [[nodiscard]] std::byte* allocate_bytes(std::size_t bytes) {
        return static_cast<std::byte*>(arena_->allocate(bytes, alignof(std::max_align_t)));
    }
    /// Memory for the data behind handles of captured regions, shared with all clones.
    [[nodiscard]] std::pmr::memory_resource& of_regions() {
        if (!regions_) regions_ = std::make_shared<Arena>();
        return regions_->memory();
    }

  private:
    std::shared_ptr<Arena> arena_;
    std::vector<std::shared_ptr<const Arena>> origins_;
    std::shared_ptr<Arena> regions_;
};

} // namespace cudag::detail
