// The memory that cudag allocates during the call of a function.
#pragma once

#include "thread_state.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudag::detail {

struct MadeBlock {
    std::uintptr_t begin;
    std::size_t bytes;
};

/// Lists the memory that cudag allocates for this thread during the object's lifetime, in order: buffers, scalars, and
/// blocks of pools. Of several lists, the last one begun gets the memory.
class MadeMemory {
  public:
    MadeMemory() noexcept : around_(std::exchange(thread_state.made_memory, this)) {}
    ~MadeMemory() { thread_state.made_memory = around_; }
    MadeMemory(const MadeMemory&) = delete;
    MadeMemory& operator=(const MadeMemory&) = delete;

    void add(const MadeBlock& block) { blocks_.push_back(block); }
    [[nodiscard]] std::vector<MadeBlock> take() noexcept { return std::move(blocks_); }

  private:
    MadeMemory* around_;
    std::vector<MadeBlock> blocks_;
};

/// Lists new memory, if this thread has a list.
inline void note_made(const void* memory, std::size_t bytes) {
    if (thread_state.made_memory != nullptr) [[unlikely]]
        thread_state.made_memory->add({reinterpret_cast<std::uintptr_t>(memory), bytes});
}

} // namespace cudag::detail
