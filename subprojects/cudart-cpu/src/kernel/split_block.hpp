// A block of a kernel split at its meetings: its threads take no stacks, as long as all of a warp go the same way.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

/// The memory of frames, kept by a worker from block to block.
class FramePool {
  public:
    struct Release {
        FramePool* pool;
        void operator()(unsigned char* frame) const noexcept { pool->free_.push_back(frame); }
    };
    using Frame = std::unique_ptr<unsigned char, Release>;

    FramePool() = default;
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;
    ~FramePool();

    /// All frames of a pool have the same size. Throws std::bad_alloc.
    Frame take(std::size_t bytes);

  private:
    std::vector<unsigned char*> free_;
};

/// Where the threads of a block are.
class SplitBlock {
  public:
    enum class Outcome { done, apart };

    SplitBlock(const ptx::KernelRow& kernel, ptx::Block& block, FramePool& frames);

    /// Runs the block until it has ended, or its threads go apart: then apart() tells where they are.
    Outcome run();

    /// A thread's place: a point's number, 0 for the begin, or ptx::split_end. At a point it waits, unless it is
    /// released.
    struct Place {
        ptx::u32 state;
        bool released;
    };
    [[nodiscard]] Place place_of(unsigned warp, unsigned lane) const;

    /// Runs one thread from its state to the next one.
    ptx::u32 step(unsigned thread, ptx::u32 state) {
        const ptx::u32 to = kernel_.step(block_, state, thread, thread + 1);
        return to;
    }
    [[nodiscard]] const ptx::SplitPoint& point(ptx::u32 state) const { return kernel_.points[state]; }

    /// The operands of a thread at a point.
    [[nodiscard]] ptx::u32 mask_of(unsigned thread, const ptx::SplitPoint& point) const;
    [[nodiscard]] ptx::u32 first_of(unsigned thread, const ptx::SplitPoint& point) const;
    [[nodiscard]] ptx::u32 second_of(unsigned thread, const ptx::SplitPoint& point) const;
    template <class Value>
    Value& slot(unsigned thread, ptx::u32 at) const {
        return reinterpret_cast<Value*>(block_.frame + std::size_t{at} * block_.frame_threads)[thread];
    }

    /// Puts all live lanes of a warp behind the point `state`, for the next run().
    void put_together(unsigned warp, ptx::u32 live, ptx::u32 state) {
        warps_[warp] = {live, static_cast<ptx::u16>(state), true, false};
    }

  private:
    struct Warp {
        ptx::u32 live = 0;
        ptx::u16 state = 0;
        bool released = true;
        bool apart = false; ///< each lane has its place in the frame
    };

    ptx::u32 run_lanes(unsigned warp);
    bool run_warp(unsigned warp);
    bool meet(unsigned warp, const ptx::SplitPoint& point);
    bool release();

    const ptx::KernelRow& kernel_;
    ptx::Block& block_;
    FramePool::Frame frame_;
    unsigned warp_count_;
    std::array<Warp, 32> warps_{};
};

} // namespace cudart_cpu::detail
