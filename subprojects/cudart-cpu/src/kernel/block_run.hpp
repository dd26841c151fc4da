// The threads of one block: their turns, and their waits for each other.
#pragma once

#include "fiber.hpp"
#include "split_block.hpp"

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

class GridRun;
class BlockRun;
class SharedAccesses;
struct Fault;

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned barrier_count = 16;

/// The kind of a thread's wait.
enum class Wait : unsigned char { none, warp, barrier, cluster, mask };

struct ThreadRun : ptx::Thread {
    BlockRun* run = nullptr;
    Fiber* fiber = nullptr; ///< null before it begins and after it ends
    Wait wait = Wait::none;
    ptx::WarpCall call{};
    ptx::u32 barrier = 0;
    ptx::u32 mask = 0;
    ptx::u32 first = 0;
    ptx::u32 second = 0;
    ptx::u32 cluster_phase = 0;
    ptx::u32 location = 0;
    ptx::u32 order = 0;    ///< the next access's, in lockstep
    bool may_spin = false; ///< whether the next access may belong to a spinning loop
    ptx::u32 state = 0;    ///< in a split kernel: where it goes on
    ptx::u64 value = 0;
    ptx::WarpResult result{};
};

struct WarpRun {
    ptx::u32 live = 0;
    ptx::u32 unstarted = 0;
    ptx::u32 ready = 0;
    ptx::u32 yielded = 0;
    ptx::u32 waiting = 0; ///< lanes in a warp operation
    ptx::u32 asking = 0;  ///< lanes asking for the active lanes
    // In lockstep:
    ptx::u32 stepping = 0;   ///< lanes before an access
    ptx::u32 last_order = 0; ///< the latest access's
    ptx::u32 apart = 0;      ///< accesses since all stepping lanes were together, if they may belong to a spinning loop
    ptx::u32 long_apart = 1 << 14;
    bool has_awaited = false; ///< its yielded lanes have had a turn since the latest access
};

struct Barrier {
    ptx::u32 arrived = 0;
    ptx::u32 expected = 0; ///< 0: all threads of the block
    ptx::u32 trues = 0;
    ptx::u32 warps = 0;                       ///< the warps with arrived threads
    std::array<ptx::u32, warp_lanes> lanes{}; ///< the arrived lanes of each warp
    ptx::BarrierCall call{};
    std::array<ptx::u32, warp_lanes> waiting{}; ///< the waiting lanes of each warp
};

/// Runs blocks on one thread of the process.
struct Worker {
    GridRun& grid;
    FiberCache fibers;
    FramePool frames{};
    Context main{};
    BlockRun* current = nullptr; ///< null while threads run in turn
    const Fiber* turn_fiber = nullptr;
    const ptx::Block* turn = nullptr;    ///< the block running its threads in turn
    std::atomic<bool> in_kernel = false; ///< read by the handler of faults
    bool asks_for_dependencies = false;

    /// Switches from main to a fiber, until it switches back.
    void enter(Context& fiber);
    /// The fiber on whose stack the thread runs.
    [[nodiscard]] const Fiber* fiber_of(const ptx::Thread& thread) const noexcept;
    /// Leaves the kernel after a noted failure.
    [[noreturn]] void leave_kernel();
    /// Leaves the kernel after a signal raised by its instruction.
    [[noreturn]] void fail_at(Fault&& fault);
};

/// Blocks able to meet.
struct ClusterRun {
    std::vector<std::unique_ptr<BlockRun>> blocks;
    ptx::u32 phase = 0;
    unsigned arrived = 0;

    [[nodiscard]] unsigned live() const;
    /// Ends the phase if all threads have arrived.
    void check();
};

/// The run of one block, on one thread of the process, from which it never moves.
class BlockRun {
  public:
    enum class State { ready, spinning, waiting, done, failed };

    /// `split`: the kernel, if its threads need no stacks of their own.
    BlockRun(Worker& worker, ClusterRun& cluster, const ptx::Block& block, const ptx::KernelRow* split);
    BlockRun(const BlockRun&) = delete;
    BlockRun& operator=(const BlockRun&) = delete;
    ~BlockRun();

    /// Runs until no thread can go on without others. Must not be called once the block is done or has failed.
    State resume();

    // Called by threads of the block.
    ptx::u32 meet(ThreadRun& thread, ptx::BarrierCall call, ptx::u32 number, ptx::u32 count, bool predicate);
    ptx::WarpResult meet_in_warp(ThreadRun& thread);
    void yield(ThreadRun& thread);
    /// Precedes an access of a thread in lockstep: the lanes of its warp reach it together.
    void step(ThreadRun& thread, ptx::u32 order, bool may_spin);
    /// Waits on the worker's own stack: the wait may run other kernels.
    void wait_for_grid_dependencies();
    void meet_cluster(ThreadRun& thread, bool arrives, bool waits);
    void wake_cluster();
    [[noreturn]] void end(ThreadRun& thread);
    /// Ends the block, and the grid.
    [[noreturn]] void fail();

    [[nodiscard]] ptx::Block& block() noexcept { return block_; }
    [[nodiscard]] const ClusterRun& cluster() const noexcept { return cluster_; }
    [[nodiscard]] ThreadRun& running() noexcept { return *running_; }
    [[nodiscard]] bool seeks_races() const noexcept { return accesses_ != nullptr; }
    /// The stack on which the running thread runs.
    [[nodiscard]] const Fiber& running_fiber() const noexcept { return split_ ? *split_fiber_ : *running_->fiber; }
    /// Exists only if races are checked for.
    [[nodiscard]] SharedAccesses& accesses() noexcept { return *accesses_; }
    [[nodiscard]] unsigned live() const noexcept { return live_; }
    /// Describes the waits of the block's threads, for an error.
    [[nodiscard]] std::string describe() const;

  private:
    static void run_fiber(Fiber& fiber);
    static void run_split_fiber(Fiber& fiber);

    void begin_threads();
    State resume_split();
    void run_split();
    void take_apart();
    void step_thread(ThreadRun& thread);
    void arrive(ThreadRun& thread);
    bool put_together();
    bool arrive_at_barrier(ThreadRun& thread, ptx::BarrierCall call, ptx::u32 number, ptx::u32 count, bool predicate);
    bool arrive_in_warp(ThreadRun& thread);
    ThreadRun& thread_at(unsigned warp, unsigned lane) { return threads_[warp * warp_lanes + lane]; }
    ThreadRun* choose();
    ThreadRun* next() {
        running_ = choose();
        return running_;
    }
    void mark_runnable(unsigned warp) { runnable_ |= 1u << warp; }
    void suspend(ThreadRun& thread);
    static void put_on(ThreadRun& thread, Fiber& fiber);
    /// Gives a beginning thread its stack. Returns false if there is no memory for it; the block has failed then.
    bool prepare(ThreadRun& thread);
    void leave(Context& from, ThreadRun* to);
    ThreadRun* finish(ThreadRun& thread);
    void complete_warp(unsigned warp, ptx::u32 lanes);
    void answer_masks(unsigned warp);
    void choose_step(unsigned warp);
    bool try_warp(unsigned warp, ptx::u32 lane);
    bool is_complete(const Barrier& barrier) const;
    void release(Barrier& barrier);
    void recheck_after_end(unsigned warp);

    Worker& worker_;
    ClusterRun& cluster_;
    ptx::Block block_;
    ThreadRun* running_ = nullptr;
    std::unique_ptr<ThreadRun[]> threads_;
    unsigned count_;
    unsigned warp_count_;
    unsigned live_;
    unsigned cluster_waiters_ = 0;
    std::unique_ptr<SharedAccesses> accesses_;
    ptx::u32 runnable_ = 0; ///< the runnable warps
    unsigned at_ = 0;       ///< the warp with the turn
    State state_ = State::ready;
    std::unique_ptr<WarpRun[]> warps_;
    std::unique_ptr<Barrier[]> barriers_; ///< barrier_count

    // Of a split kernel. Its threads have runs of their own only once they have gone apart.
    std::optional<SplitBlock> split_;
    Fiber* split_fiber_ = nullptr;
    bool is_together_ = true;
    bool all_released_ = false; ///< the last barrier has released all live threads
};

} // namespace cudart_cpu::detail
