// One launch of a translated kernel: its blocks, over the cores of the machine.
#pragma once

#include "block_run.hpp"
#include "child_launches.hpp"

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

struct LaunchContext;

/// The configuration of a kernel's launch, without its grid and its block.
struct LaunchExtent {
    unsigned shared_bytes = 0;
    bool cooperative = false;
    dim3 cluster{0, 0, 0};
};

class GridRun : public std::enable_shared_from_this<GridRun> {
  public:
    /// The number of accesses in a possibly spinning loop before other threads get their turn.
    static constexpr ptx::u32 patience = 256;

    GridRun(const ptx::ModuleRow& module, const ptx::KernelRow& kernel, dim3 grid, dim3 block,
            const LaunchExtent& extent, void* const* args);

    /// Returns when all blocks and the kernels that they have launched have ended, or one has failed.
    void run();

    // Called by workers and by the code on them.
    /// The least size of one thread's stack.
    [[nodiscard]] std::size_t stack_bytes() const noexcept { return stack_bytes_; }
    void run_thread(ptx::Thread& thread) const { kernel_.thread(thread); }
    /// Records the failure of the grid; the first counts. `thread` is null if the failure is not one thread's; `line`
    /// is empty if the source line is unknown.
    void set_failed(cudaError_t code, const std::string& reason, const ptx::Block& block, const ptx::Thread* thread,
                    const std::string& line);
    /// Fails the grid: there is no memory for the stacks of its threads.
    void set_out_of_stacks(const ptx::Block& block);
    /// The source line of a location reported by a thread.
    [[nodiscard]] std::string place(ptx::u32 location) const;
    void wait_for_grid_dependencies();
    /// The count of removals at the launch's submission, see work_queue.hpp: kernels find objects by number.
    [[nodiscard]] std::uint64_t removals_at_submission() const noexcept { return removals_at_submission_; }
    /// Whether the bytes are parameters, variables of the kernel's module, or the workspace of cooperative groups.
    [[nodiscard]] bool is_own(ptx::u64 at, ptx::u64 bytes) const;
    [[nodiscard]] ChildLaunches& children() noexcept { return children_; }

  private:
    struct Cluster;

    void begin_cluster(Cluster& cluster, Worker& worker, std::uint64_t unit);
    bool resume_cluster(Cluster& cluster, bool& progress);
    void work();
    void run_in_turn(Worker& worker, std::byte* shared);
    void run_together(Worker& worker);
    bool take(std::uint64_t& index);
    [[nodiscard]] ptx::Block block_at(std::uint64_t index, std::byte* shared) const;
    void ask_for_help();
    static void run_blocks(Fiber& fiber);

    const ptx::ModuleRow& module_;
    const ptx::KernelRow& kernel_;
    dim3 grid_;
    dim3 block_;
    LaunchExtent extent_;
    std::uint64_t unit_count_; ///< clusters, or blocks without clusters
    unsigned unit_blocks_ = 1;
    std::vector<std::byte> params_;
    std::size_t stack_bytes_;
    ptx::u32 dynamic_at_;
    ptx::u64 id_;
    alignas(64) std::array<ptx::u32, 16> workspace_{};
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

    std::atomic<std::uint64_t> next_{0};
    std::atomic<bool> failed_{false};
    std::atomic<bool> asked_{false};
    LaunchContext* context_;
    std::uint64_t removals_at_submission_;
    const std::function<void()>* dependencies_;
    std::once_flag dependencies_met_;

    ChildLaunches children_;
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned helpers_ = 0;
    bool closed_ = false;
};

/// The worker on this thread of the process; null if there is none.
Worker* current_worker() noexcept;

/// The error text for a stack overflow of a thread.
std::string stack_overflow(std::size_t bytes);

/// Records the failure and leaves the kernel.
[[noreturn]] void fail_thread(ptx::Thread& thread, cudaError_t code, std::string&& reason, ptx::u32 location);

} // namespace cudart_cpu::detail
