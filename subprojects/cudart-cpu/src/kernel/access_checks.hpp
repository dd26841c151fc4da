// Checks of kernels' accesses: to existing memory only, and in an order.
#pragma once

#include "block_run.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudart_cpu::detail {

/// The latest users of each byte of a block's shared memory since its threads last met.
class SharedAccesses {
  public:
    explicit SharedAccesses(std::size_t bytes) : bytes_(bytes) {}

    /// Called when threads of the block have met.
    void next_epoch() noexcept { ++epoch_; }
    void next_epoch_of_warp(unsigned warp) noexcept { ++warp_epochs_[warp]; }

    struct Conflict {
        unsigned other; ///< the thread's number in its block
        bool other_wrote;
    };
    /// Whether another thread has used the bytes in no order with this access. If not, records the access.
    bool use(std::size_t at, std::size_t count, unsigned thread, bool writes, Conflict& conflict);

  private:
    struct Use {
        std::uint32_t epoch = 0; ///< 0: never
        std::uint32_t warp_epoch = 0;
        std::uint16_t thread = 0;
    };
    struct Byte {
        Use write, read, other_read;
    };

    [[nodiscard]] bool conflicts(const Use& use, unsigned thread) const noexcept;

    std::vector<Byte> bytes_;
    std::uint32_t epoch_ = 1;
    std::uint32_t warp_epochs_[32] = {};
};

} // namespace cudart_cpu::detail
