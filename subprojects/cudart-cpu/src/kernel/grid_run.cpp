// One launch of a translated kernel: its blocks, over the cores of the machine.
#include "grid_run.hpp"

#include "fault_signals.hpp"
#include "grid_dependencies.hpp"
#include "kernel_name.hpp"
#include "kernel_registry.hpp"
#include "launch_context.hpp"
#include "runtime/checks.hpp"
#include "runtime/device_model.hpp"
#include "runtime/device_settings.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/round_up.hpp"
#include "runtime/schedule.hpp"
#include "runtime/source_line.hpp"
#include "runtime/text.hpp"
#include "runtime/thread_pool.hpp"
#include "stream/work_queue.hpp"
#include "translated_modules.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace cudart_cpu::detail {

namespace {

thread_local Worker* worker_here = nullptr;

constexpr std::size_t shared_alignment = 1024;
/// The rounds without progress before further blocks begin, for which the spinning ones may wait.
constexpr unsigned rounds_to_spin = 16;
/// The maximum of blocks under way in one worker while all of them spin.
constexpr std::size_t max_together = 2048;
/// The time after which a kernel with more to do wakes other threads.
constexpr std::chrono::microseconds alone{40};

/// The shared memory of a block; not cleared, as on a GPU.
class SharedMemory {
  public:
    explicit SharedMemory(std::size_t bytes)
        : memory_(
              static_cast<std::byte*>(std::aligned_alloc(shared_alignment, round_up(bytes + 1, shared_alignment)))) {
        if (memory_ == nullptr) throw std::bad_alloc();
    }
    SharedMemory(SharedMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
    SharedMemory& operator=(SharedMemory&&) = delete;
    ~SharedMemory() { std::free(memory_); }

    [[nodiscard]] std::byte* get() const noexcept { return memory_; }

  private:
    std::byte* memory_;
};

/// The least stack that a recursive function takes on a GPU for each call.
constexpr std::size_t smallest_frame = 16;

std::size_t stack_bytes_for(const ptx::KernelRow& kernel) {
    const std::size_t once = kernel.stack->once;
    const std::size_t again = kernel.stack->again;
    const std::size_t bytes = 16 * 1024 + ptx::stack_reserve + once;
    if (again == 0 && kernel.stack->grows == 0) return bytes;
    const std::size_t limit = largest_stack_limit();
    return bytes + std::max(again * (limit / smallest_frame), 2 * limit);
}

std::string index_text(const ptx::Index& index) {
    return text('(', index.x, ',', index.y, ',', index.z, ')');
}

/// Makes `worker` the current one of this thread of the process, while it runs blocks.
class WorkerScope {
  public:
    explicit WorkerScope(Worker& worker) : outer_(std::exchange(worker_here, &worker)) {}
    WorkerScope(const WorkerScope&) = delete;
    WorkerScope& operator=(const WorkerScope&) = delete;
    ~WorkerScope() { worker_here = outer_; }

  private:
    Worker* outer_;
};

} // namespace

Worker* current_worker() noexcept {
    return worker_here;
}

GridRun::GridRun(const ptx::ModuleRow& module, const ptx::KernelRow& kernel, dim3 grid, dim3 block,
                 const LaunchExtent& extent, void* const* args)
    : module_(module), kernel_(kernel), grid_(grid), block_(block), extent_(extent), context_(current_launch()),
      removals_at_submission_(context_ != nullptr ? context_->removals_at_submission
                                                  : detail::removals_at_submission()),
      dependencies_(current_grid_dependencies()) {
    static std::atomic<ptx::u64> ids{0};
    id_ = ++ids;
    if (extent_.cluster.x == 0 && kernel.required_cluster[0] != 0)
        extent_.cluster = dim3(kernel.required_cluster[0], kernel.required_cluster[1], kernel.required_cluster[2]);
    if (extent_.cluster.x == 0) extent_.cluster = dim3(1, 1, 1);
    unit_blocks_ = extent_.cluster.x * extent_.cluster.y * extent_.cluster.z;
    unit_count_ = std::uint64_t{grid.x} * grid.y * grid.z / unit_blocks_;
    dynamic_at_ = static_cast<ptx::u32>(round_up(kernel.static_shared, extent.shared_bytes > 0 ? 128 : 1));
    workspace_[0] = sizeof workspace_;
    stack_bytes_ = stack_bytes_for(kernel);
    for (ptx::u32 i = 0; i < kernel.param_count; ++i) {
        const std::size_t size = kernel.params[2 * i];
        const std::size_t at = round_up(params_.size(), kernel.params[2 * i + 1]);
        params_.resize(at + size);
        std::memcpy(params_.data() + at, args[i], size);
    }
}

ptx::Block GridRun::block_at(std::uint64_t index, std::byte* shared) const {
    ptx::Block block{};
    const auto x = static_cast<ptx::u32>(index % grid_.x);
    const auto y = static_cast<ptx::u32>(index / grid_.x % grid_.y);
    const auto z = static_cast<ptx::u32>(index / grid_.x / grid_.y);
    block.ctaid = {x, y, z};
    block.ntid = {block_.x, block_.y, block_.z};
    block.nctaid = {grid_.x, grid_.y, grid_.z};
    block.cluster = {extent_.cluster.x, extent_.cluster.y, extent_.cluster.z};
    block.shared = reinterpret_cast<unsigned char*>(shared);
    block.params = reinterpret_cast<const unsigned char*>(params_.data());
    block.grid_workspace = extent_.cooperative ? reinterpret_cast<ptx::u64>(workspace_.data()) : 0;
    block.grid_id = id_;
    block.checks = checks_from_environment();
    block.multiprocessors = static_cast<ptx::u32>(multiprocessors());
    block.dynamic_shared = extent_.shared_bytes;
    block.total_shared = dynamic_at_ + extent_.shared_bytes;
    return block;
}

bool GridRun::take(std::uint64_t& index) {
    if (failed_.load(std::memory_order_relaxed)) return false;
    index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= unit_count_) return false;
    if (index + 1 < unit_count_ && !asked_.load(std::memory_order_relaxed) &&
        (extent_.cooperative || std::chrono::steady_clock::now() - begin_ > alone))
        ask_for_help();
    return true;
}

void GridRun::ask_for_help() {
    if (asked_.exchange(true)) return;
    const unsigned workers = schedule_workers();
    const std::uint64_t left = unit_count_ - std::min<std::uint64_t>(unit_count_, next_.load());
    const auto helpers = static_cast<unsigned>(std::min<std::uint64_t>(workers - 1, left));
    for (unsigned i = 0; i < helpers; ++i)
        run_in_pool(
            [grid = shared_from_this()] {
                {
                    const std::lock_guard lock(grid->mutex_);
                    if (grid->closed_) return;
                    ++grid->helpers_;
                }
                {
                    const LaunchScope launch(grid->context_);
                    grid->work();
                }
                const std::lock_guard lock(grid->mutex_);
                --grid->helpers_;
                grid->changed_.notify_all();
            },
            workers - 1);
}

void GridRun::run() {
    work();
    {
        std::unique_lock lock(mutex_);
        closed_ = true;
        changed_.wait(lock, [this] { return helpers_ == 0; });
    }
    children_.run();
}

void GridRun::work() {
    const KernelScope in_kernel;
    const FaultSignals faults;
    Worker worker{*this, FiberCache(stack_bytes())};
    adopt_thread(worker.main);
    const WorkerScope scope(worker);
    // Threads in turn show no races, and no warps.
    const bool needs_warps = (checks_from_environment() & (ptx::check_race | ptx::keep_lockstep)) != 0;
    if (kernel_.block != nullptr && unit_blocks_ == 1 && !needs_warps) {
        const SharedMemory shared(dynamic_at_ + extent_.shared_bytes);
        run_in_turn(worker, shared.get());
    } else {
        run_together(worker);
    }
}

namespace {

struct InTurn {
    Worker* worker;
    std::function<void()> run;
};

} // namespace

/// Runs on a stack of its own, so a failure can leave it.
void GridRun::run_blocks(Fiber& fiber) {
    const auto& work = *static_cast<InTurn*>(fiber.argument);
    enter_fiber();
    work.run();
    switch_context(fiber.context, work.worker->main);
    __builtin_unreachable();
}

void GridRun::run_in_turn(Worker& worker, std::byte* shared) {
    InTurn work{&worker, [&] {
                    std::uint64_t index = 0;
                    while (take(index)) {
                        ptx::Block block = block_at(index, shared);
                        block.stack_low = reinterpret_cast<ptx::u64>(worker.turn_fiber->low);
                        worker.turn = &block;
                        kernel_.block(block);
                    }
                }};
    Fiber* const fiber = worker.fibers.take();
    if (fiber == nullptr) return set_out_of_stacks(block_at(0, shared));
    fiber->argument = &work;
    worker.turn_fiber = fiber;
    begin_fiber(*fiber, &GridRun::run_blocks);
    worker.enter(fiber->context);
    worker.fibers.give_back(*fiber);
}

struct GridRun::Cluster : ClusterRun {
    std::vector<SharedMemory> shared;
};

void GridRun::begin_cluster(Cluster& cluster, Worker& worker, std::uint64_t unit) {
    while (cluster.shared.size() < unit_blocks_)
        cluster.shared.emplace_back(dynamic_at_ + extent_.shared_bytes);
    cluster.blocks.clear();
    cluster.arrived = cluster.phase = 0;
    const dim3& size = extent_.cluster;
    const std::uint64_t columns = grid_.x / size.x;
    const std::uint64_t rows = grid_.y / size.y;
    const std::uint64_t x = unit % columns * size.x;
    const std::uint64_t y = unit / columns % rows * size.y;
    const std::uint64_t z = unit / columns / rows * size.z;
    for (unsigned i = 0; i < unit_blocks_; ++i) {
        const std::uint64_t row = y + i / size.x % size.y + grid_.y * (z + i / size.x / size.y);
        const ptx::Block block = block_at(x + i % size.x + grid_.x * row, cluster.shared[i].get());
        const bool is_split = kernel_.step != nullptr && block.checks == 0 && unit_blocks_ == 1;
        try {
            cluster.blocks.push_back(std::make_unique<BlockRun>(worker, cluster, block, is_split ? &kernel_ : nullptr));
        } catch (const std::bad_alloc&) {
            return set_out_of_stacks(block);
        }
    }
}

/// Returns whether the cluster has ended.
bool GridRun::resume_cluster(Cluster& cluster, bool& progress) {
    bool spins = false;
    const ptx::u32 phase = cluster.phase;
    BlockRun* waiting = nullptr;
    for (const auto& block : cluster.blocks) {
        if (block->live() == 0) continue;
        switch (block->resume()) {
        case BlockRun::State::done:
            progress = true;
            break;
        case BlockRun::State::spinning:
            spins = true;
            break;
        case BlockRun::State::waiting:
            waiting = block.get();
            break;
        default:
            if (!failed_)
                set_failed(cudaErrorLaunchFailure, text("threads wait for others that never come: ", block->describe()),
                           block->block(), nullptr, {});
            return false;
        }
        if (failed_) return false;
    }
    if (cluster.live() == 0) return true;
    if (waiting != nullptr && !spins && phase == cluster.phase && !progress)
        set_failed(cudaErrorLaunchFailure, text("threads wait for others that never come: ", waiting->describe()),
                   waiting->block(), nullptr, {});
    return false;
}

void GridRun::run_together(Worker& worker) {
    std::vector<std::unique_ptr<Cluster>> active;
    std::vector<std::unique_ptr<Cluster>> spare;
    bool exhausted = false;
    const auto begin = [&] {
        std::uint64_t unit = 0;
        if (!take(unit)) {
            exhausted = true;
            return false;
        }
        if (spare.empty()) spare.push_back(std::make_unique<Cluster>());
        begin_cluster(*spare.back(), worker, unit);
        active.push_back(std::move(spare.back()));
        spare.pop_back();
        return true;
    };
    unsigned idle_rounds = 0;
    while (!failed_) {
        if (active.empty() && !begin()) break;
        bool progress = false;
        for (std::size_t i = 0; i < active.size() && !failed_;) {
            bool moved = false;
            if (resume_cluster(*active[i], moved)) {
                active[i]->blocks.clear();
                spare.push_back(std::move(active[i]));
                active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
            progress = progress || moved;
        }
        if (progress || failed_) {
            idle_rounds = 0;
            continue;
        }
        // All blocks spin: on blocks not yet begun, or on other threads of the process.
        ++idle_rounds;
        if (!exhausted && active.size() < max_together && (extent_.cooperative || idle_rounds >= rounds_to_spin)) {
            begin();
            idle_rounds = 0;
        } else {
            std::this_thread::yield();
        }
    }
}

std::string GridRun::place(ptx::u32 location) const {
    const ptx::u32 file = location >> 20;
    if (location == 0 || file >= module_.file_count) return "unknown line";
    return text(module_.files[file], ':', location & 0xFFFFF);
}

void GridRun::set_failed(cudaError_t code, const std::string& reason, const ptx::Block& block,
                         const ptx::Thread* thread, const std::string& line) {
    if (failed_.exchange(true)) return;
    std::string where = text("kernel ", readable_name(kernel_.name), ", block ", index_text(block.ctaid));
    if (thread != nullptr) where += text(", thread ", index_text(thread->tid));
    if (!line.empty()) where += text(", ", line);
    set_kernel_failure(code, text(where, ": ", reason));
}

void GridRun::set_out_of_stacks(const ptx::Block& block) {
    set_failed(cudaErrorMemoryAllocation,
               text("there is no memory for its threads' stacks of ", stack_bytes_, " bytes"), block, nullptr, {});
}

void GridRun::wait_for_grid_dependencies() {
    if (dependencies_ == nullptr) return;
    std::call_once(dependencies_met_, [this] { (*dependencies_)(); });
}

std::string stack_overflow(std::size_t bytes) {
    return text("its functions need more than ", bytes,
                " bytes of stack; cudaDeviceSetLimit(cudaLimitStackSize, bytes) gives more to kernels that recurse");
}

void fail_thread(ptx::Thread& thread, cudaError_t code, std::string&& reason, ptx::u32 location) {
    Worker& worker = *worker_here;
    {
        const std::string own = std::move(reason); // destroyed here: nothing unwinds the abandoned stack
        worker.grid.set_failed(code, own, *thread.block, &thread, location == 0 ? "" : worker.grid.place(location));
    }
    worker.leave_kernel();
}

bool GridRun::is_own(ptx::u64 at, ptx::u64 bytes) const {
    const auto within = [&](const void* base, ptx::u64 size) {
        const auto begin = reinterpret_cast<ptx::u64>(base);
        return at >= begin && at - begin <= size && bytes <= size - (at - begin);
    };
    if (within(params_.data(), params_.size()) || within(workspace_.data(), sizeof workspace_)) return true;
    for (ptx::u32 i = 0; i < module_.variable_count; ++i)
        if (within(module_.variables[i].address, module_.variables[i].bytes)) return true;
    return is_in_variable(at, bytes);
}

const Fiber* Worker::fiber_of(const ptx::Thread& thread) const noexcept {
    return current != nullptr ? static_cast<const ThreadRun&>(thread).fiber : turn_fiber;
}

void Worker::leave_kernel() {
    if (current != nullptr) current->fail();
    Context gone;
    switch_context(gone, main);
    __builtin_unreachable();
}

void Worker::fail_at(Fault&& fault) {
    {
        const Fault own = std::move(fault); // destroyed here
        const Fiber& fiber = current != nullptr ? current->running_fiber() : *turn_fiber;
        const std::string line = source_line(own.instruction);
        const bool is_overflow = own.is_access && is_below(fiber, own.address);
        std::string reason = is_overflow ? stack_overflow(grid.stack_bytes()) : own.reason;
        if (current != nullptr) {
            grid.set_failed(own.code, reason, current->block(), &current->running(), line);
        } else {
            // A thread in its turn has its numbers in registers.
            if (!is_overflow && own.is_access) reason += "; CUDART_CPU_CHECK=memory names the thread";
            grid.set_failed(own.code, reason, *turn, nullptr, line);
        }
    }
    leave_kernel();
}

} // namespace cudart_cpu::detail
