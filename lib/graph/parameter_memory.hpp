// Memory for the parameters of nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <vector>

namespace cudag::detail {

/// Blocks that are freed as one.
class Arena {
  public:
    [[nodiscard]] std::pmr::memory_resource& memory() noexcept {
        is_used_ = true;
        return memory_;
    }
    [[nodiscard]] bool is_used() const noexcept { return is_used_; }

  private:
    std::pmr::monotonic_buffer_resource memory_{std::size_t{16} * 1024};
    bool is_used_ = false;
};

/// A graph's arena, and those that it shares with clones.
class ParameterMemory {
  public:
    ParameterMemory() : arena_(std::make_shared<Arena>()) {}

    /// For a clone: an arena of its own, beside those with the blocks that it refers to.
    [[nodiscard]] ParameterMemory of_clone() const {
        ParameterMemory memory;
        memory.origins_ = origins_;
        if (arena_->is_used()) memory.origins_.push_back(arena_);
        memory.regions_ = regions_;
        return memory;
    }
    /// Whether a clone of clones comes from so many graphs that it should have copies of all blocks instead.
    [[nodiscard]] bool has_many_origins() const noexcept { return origins_.size() > 8; }
    /// No block of theirs is referred to any more.
    void forget_origins() noexcept { origins_.clear(); }

    [[nodiscard]] std::pmr::memory_resource& resource() noexcept { return arena_->memory(); }
    /// `count` objects of T, or a copy of one value.
    template <class T>
    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        return static_cast<T*>(resource().allocate(count * sizeof(T), alignof(T)));
    }
    template <class T>
    [[nodiscard]] const T* store(const T& value) {
        return new (allocate<T>(1)) T(value);
    }
    /// A block for anything.
    [[nodiscard]] std::byte* allocate_bytes(std::size_t bytes) {
        return static_cast<std::byte*>(resource().allocate(bytes, alignof(std::max_align_t)));
    }
    /// For what handles of captured regions refer to: those of all clones, too.
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
