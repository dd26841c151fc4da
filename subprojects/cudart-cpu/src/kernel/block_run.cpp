// The threads of one block: their turns, and their waits for each other.
#include "block_run.hpp"

#include "access_checks.hpp"
#include "grid_run.hpp"
#include "runtime/text.hpp"
#include "warp_calls.hpp"

#include <bit>
#include <map>

namespace cudart_cpu::detail {

namespace {

unsigned lowest(ptx::u32 mask) {
    return static_cast<unsigned>(std::countr_zero(mask));
}

unsigned count_of(ptx::u32 mask) {
    return static_cast<unsigned>(std::popcount(mask));
}

} // namespace

BlockRun::BlockRun(Worker& worker, ClusterRun& cluster, const ptx::Block& block, const ptx::KernelRow* split)
    : worker_(worker), cluster_(cluster), block_(block), count_(block.ntid.x * block.ntid.y * block.ntid.z),
      warp_count_((count_ + warp_lanes - 1) / warp_lanes), live_(count_) {
    if (split != nullptr)
        split_.emplace(*split, block_, worker.frames);
    else
        begin_threads();
}

void BlockRun::begin_threads() {
    const ptx::Block& block = block_;
    warps_ = std::make_unique<WarpRun[]>(warp_lanes);
    barriers_ = std::make_unique<Barrier[]>(barrier_count);
    threads_ = std::make_unique<ThreadRun[]>(warp_count_ * warp_lanes);
    if ((block.checks & ptx::check_race) != 0) accesses_ = std::make_unique<SharedAccesses>(block.total_shared);
    unsigned number = 0;
    for (unsigned z = 0; z < block.ntid.z; ++z)
        for (unsigned y = 0; y < block.ntid.y; ++y)
            for (unsigned x = 0; x < block.ntid.x; ++x, ++number) {
                ThreadRun& thread = threads_[number];
                thread.tid = {x, y, z};
                thread.lane = number % warp_lanes;
                thread.warp = number / warp_lanes;
                thread.patience = GridRun::patience;
                thread.block = &block_;
                thread.run = this;
            }
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const unsigned lanes = warp + 1 < warp_count_ || count_ % warp_lanes == 0 ? warp_lanes : count_ % warp_lanes;
        warps_[warp].live = warps_[warp].unstarted = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
        mark_runnable(warp);
    }
}

BlockRun::~BlockRun() {
    if (threads_ == nullptr) return;
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i].fiber != nullptr) worker_.fibers.give_back(*threads_[i].fiber);
}

/// Returns null if no thread can run; then state_ has the reason.
ThreadRun* BlockRun::choose() {
    for (;;) {
        WarpRun& warp = warps_[at_];
        if (warp.ready != 0) {
            const unsigned lane = lowest(warp.ready);
            warp.ready &= warp.ready - 1;
            return &thread_at(at_, lane);
        }
        if (warp.unstarted != 0) {
            const unsigned lane = lowest(warp.unstarted);
            warp.unstarted &= warp.unstarted - 1;
            return &thread_at(at_, lane);
        }
        // A yielded lane is behind the others, unless it waits for one of them.
        if (warp.stepping != 0 && (warp.yielded == 0 || warp.has_awaited)) {
            choose_step(at_);
            continue;
        }
        if (warp.asking != 0 && warp.stepping == 0) {
            answer_masks(at_);
            continue;
        }
        runnable_ &= ~(1u << at_);
        if (runnable_ == 0) break;
        const ptx::u32 later = at_ + 1 < warp_lanes ? runnable_ & (~0u << (at_ + 1)) : 0;
        at_ = lowest(later != 0 ? later : runnable_);
    }
    if (live_ == 0) {
        state_ = State::done;
        return nullptr;
    }
    state_ = cluster_waiters_ > 0 ? State::waiting : State::failed;
    for (unsigned i = 0; i < warp_count_; ++i)
        if (warps_[i].yielded != 0) state_ = State::spinning;
    return nullptr;
}

/// Lanes that are apart meet again where the first of them waits: those at the earliest access go on. If they go on for
/// long, they may wait for the others, and the turn goes from access to access.
void BlockRun::choose_step(unsigned index) {
    WarpRun& warp = warps_[index];
    ptx::u32 first = 0;
    ptx::u32 next = 0;
    for (ptx::u32 left = warp.stepping; left != 0; left &= left - 1) {
        const ptx::u32 order = thread_at(index, lowest(left)).order;
        if (first == 0 || order < first) first = order;
        if (order > warp.last_order && (next == 0 || order < next)) next = order;
    }
    const bool takes_turns = warp.apart >= warp.long_apart;
    if (takes_turns) warp.long_apart = 1 << 5; // and probably will again
    const ptx::u32 chosen = takes_turns && next != 0 ? next : first;
    ptx::u32 together = 0;
    for (ptx::u32 left = warp.stepping; left != 0; left &= left - 1)
        if (thread_at(index, lowest(left)).order == chosen) together |= 1u << lowest(left);
    const bool may_spin = thread_at(index, lowest(together)).may_spin;
    warp.apart = together == warp.stepping ? 0 : warp.apart + (may_spin ? 1 : 0);
    warp.last_order = chosen;
    warp.has_awaited = false;
    warp.stepping &= ~together;
    warp.ready |= together;
}

void BlockRun::step(ThreadRun& thread, ptx::u32 order, bool may_spin) {
    thread.order = order;
    thread.may_spin = may_spin;
    warps_[thread.warp].stepping |= 1u << thread.lane;
    suspend(thread);
}

/// Lanes asking at the same place are active together, once no other lane of the warp can still join them.
void BlockRun::answer_masks(unsigned index) {
    WarpRun& warp = warps_[index];
    const ptx::u64 place = thread_at(index, lowest(warp.asking)).value;
    ptx::u32 together = 0;
    for (ptx::u32 left = warp.asking; left != 0; left &= left - 1)
        if (thread_at(index, lowest(left)).value == place) together |= 1u << lowest(left);
    for (ptx::u32 left = together; left != 0; left &= left - 1) {
        ThreadRun& thread = thread_at(index, lowest(left));
        thread.result = {together, true};
        thread.wait = Wait::none;
    }
    warp.asking &= ~together;
    warp.ready |= together;
}

/// Switches away from the main context, or from a fiber after its end or in a wait.
void BlockRun::leave(Context& from, ThreadRun* to) {
    if (to == nullptr || (to->fiber == nullptr && !prepare(*to))) {
        switch_context(from, worker_.main);
        return;
    }
    switch_context(from, to->fiber->context);
}

void BlockRun::put_on(ThreadRun& thread, Fiber& fiber) {
    thread.fiber = &fiber;
    thread.stack_low = reinterpret_cast<ptx::u64>(fiber.low);
}

bool BlockRun::prepare(ThreadRun& thread) {
    Fiber* const fiber = worker_.fibers.take();
    if (fiber == nullptr) {
        worker_.grid.set_out_of_stacks(block_);
        state_ = State::failed;
        return false;
    }
    fiber->argument = &thread;
    put_on(thread, *fiber);
    begin_fiber(*fiber, &BlockRun::run_fiber);
    return true;
}

void BlockRun::suspend(ThreadRun& thread) {
    ThreadRun* const to = next();
    if (to != &thread) leave(thread.fiber->context, to);
}

void BlockRun::run_fiber(Fiber& fiber) {
    auto* thread = static_cast<ThreadRun*>(fiber.argument);
    enter_fiber();
    for (;;) {
        BlockRun& block = *thread->run;
        block.worker_.grid.run_thread(*thread);
        thread->fiber = nullptr;
        ThreadRun* const to = block.finish(*thread);
        if (to != nullptr && to->fiber == nullptr) { // begins on the same stack
            put_on(*to, fiber);
            thread = to;
            continue;
        }
        block.worker_.fibers.give_back(fiber);
        block.leave(fiber.context, to);
    }
}

void BlockRun::end(ThreadRun& thread) {
    Fiber& fiber = *thread.fiber;
    thread.fiber = nullptr;
    ThreadRun* to = finish(thread);
    // The next thread gets its stack before this stack, still in use here, can be taken.
    if (to != nullptr && to->fiber == nullptr && !prepare(*to)) to = nullptr;
    worker_.fibers.give_back(fiber);
    leave(fiber.context, to);
    __builtin_unreachable();
}

void BlockRun::fail() {
    state_ = State::failed;
    Context gone;
    switch_context(gone, worker_.main);
    __builtin_unreachable();
}

void Worker::enter(Context& fiber) {
    in_kernel = true;
    switch_context(main, fiber);
    while (asks_for_dependencies) {
        asks_for_dependencies = false;
        in_kernel = false;
        BlockRun* const block = current;
        grid.wait_for_grid_dependencies();
        current = block;
        in_kernel = true;
        switch_context(main, block->running().fiber->context);
    }
    in_kernel = false;
}

BlockRun::State BlockRun::resume() {
    if (split_) return resume_split();
    worker_.current = this;
    for (unsigned i = 0; i < warp_count_; ++i)
        if (warps_[i].yielded != 0) {
            warps_[i].has_awaited = warps_[i].stepping != 0;
            warps_[i].ready |= warps_[i].yielded;
            warps_[i].yielded = 0;
            mark_runnable(i);
        }
    state_ = State::ready;
    if (ThreadRun* const first = next()) {
        if (first->fiber != nullptr || prepare(*first)) worker_.enter(first->fiber->context);
    }
    worker_.current = nullptr;
    return state_;
}

ThreadRun* BlockRun::finish(ThreadRun& thread) {
    WarpRun& warp = warps_[thread.warp];
    warp.live &= ~(1u << thread.lane);
    --live_;
    recheck_after_end(thread.warp);
    return next();
}

/// Checks the waits for all live threads again: they may wait for none now.
void BlockRun::recheck_after_end(unsigned index) {
    const WarpRun& warp = warps_[index];
    for (unsigned lane = 0; lane < warp_lanes && warp.waiting != 0; ++lane)
        if ((warp.waiting >> lane & 1) != 0) try_warp(index, lane);
    for (unsigned i = 0; i < barrier_count; ++i)
        if (barriers_[i].arrived > 0 && is_complete(barriers_[i])) release(barriers_[i]);
    cluster_.check();
}

void BlockRun::yield(ThreadRun& thread) {
    thread.patience = GridRun::patience;
    warps_[thread.warp].yielded |= 1u << thread.lane;
    suspend(thread);
}

void BlockRun::wait_for_grid_dependencies() {
    ThreadRun& thread = *running_;
    worker_.asks_for_dependencies = true;
    switch_context(thread.fiber->context, worker_.main);
}

void BlockRun::meet_cluster(ThreadRun& thread, bool arrives, bool waits) {
    if (arrives) {
        thread.cluster_phase = cluster_.phase;
        ++cluster_.arrived;
        cluster_.check();
    }
    if (!waits || thread.cluster_phase != cluster_.phase) return;
    thread.wait = Wait::cluster;
    ++cluster_waiters_;
    suspend(thread);
}

void BlockRun::wake_cluster() {
    if (accesses_) accesses_->next_epoch();
    for (unsigned i = 0; i < count_; ++i)
        if (threads_[i].wait == Wait::cluster) {
            threads_[i].wait = Wait::none;
            warps_[threads_[i].warp].ready |= 1u << threads_[i].lane;
            mark_runnable(threads_[i].warp);
        }
    cluster_waiters_ = 0;
}

unsigned ClusterRun::live() const {
    unsigned count = 0;
    for (const auto& block : blocks)
        count += block->live();
    return count;
}

void ClusterRun::check() {
    if (arrived == 0 || arrived < live()) return;
    arrived = 0;
    ++phase;
    for (const auto& block : blocks)
        block->wake_cluster();
}

// Warps.

bool BlockRun::try_warp(unsigned index, ptx::u32 lane) {
    const WarpRun& warp = warps_[index];
    const ThreadRun& thread = thread_at(index, lane);
    const ptx::u32 lanes = thread.mask & warp.live;
    if ((warp.waiting & lanes) != lanes) return false;
    for (ptx::u32 left = lanes; left != 0; left &= left - 1) {
        const ThreadRun& other = thread_at(index, lowest(left));
        if (other.mask != thread.mask || other.call != thread.call) return false;
    }
    complete_warp(index, lanes);
    return true;
}

void BlockRun::complete_warp(unsigned index, ptx::u32 lanes) {
    std::array<ThreadRun*, warp_lanes> members{};
    for (ptx::u32 left = lanes; left != 0; left &= left - 1) {
        const unsigned lane = lowest(left);
        members[lane] = &thread_at(index, lane);
        members[lane]->wait = Wait::none;
    }
    answer_warp_call(members.data(), lanes);
    if (accesses_) accesses_->next_epoch_of_warp(index);
    WarpRun& warp = warps_[index];
    warp.waiting &= ~lanes;
    warp.ready |= lanes;
    mark_runnable(index);
}

ptx::WarpResult BlockRun::meet_in_warp(ThreadRun& thread) {
    WarpRun& warp = warps_[thread.warp];
    const ptx::u32 bit = 1u << thread.lane;
    if (thread.call == ptx::WarpCall::active_mask) {
        thread.wait = Wait::mask;
        warp.asking |= bit;
        suspend(thread);
        return thread.result;
    }
    if (arrive_in_warp(thread))
        warp.ready &= ~bit; // this thread goes on itself
    else
        suspend(thread);
    return thread.result;
}

/// Returns whether the operation is complete.
bool BlockRun::arrive_in_warp(ThreadRun& thread) {
    const ptx::u32 bit = 1u << thread.lane;
    if ((thread.mask & bit) == 0) thread.mask = bit; // undefined on a GPU: here it meets nobody
    thread.wait = Wait::warp;
    warps_[thread.warp].waiting |= bit;
    return try_warp(thread.warp, thread.lane);
}

// Barriers.

bool BlockRun::is_complete(const Barrier& barrier) const {
    if (barrier.expected == 0 && barrier.arrived < live_) return false;
    // Ended threads are not waited for; with an expected number of threads, an arriving warp counts as a whole.
    unsigned arrived = 0;
    for (ptx::u32 left = barrier.warps; left != 0; left &= left - 1) {
        const unsigned warp = lowest(left);
        const ptx::u32 live = warps_[warp].live;
        const ptx::u32 lanes = barrier.lanes[warp];
        arrived += barrier.expected == 0 ? count_of(lanes & live) : count_of(lanes | ~live);
    }
    return arrived >= (barrier.expected == 0 ? live_ : barrier.expected);
}

void BlockRun::release(Barrier& barrier) {
    all_released_ = barrier.arrived >= live_;
    if (accesses_) accesses_->next_epoch();
    const ptx::u32 result = barrier.call == ptx::BarrierCall::count ? barrier.trues
                            : barrier.call == ptx::BarrierCall::all ? barrier.trues == barrier.arrived
                                                                    : barrier.trues != 0;
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const ptx::u32 lanes = barrier.waiting[warp];
        if (lanes == 0) continue;
        for (ptx::u32 left = lanes; left != 0; left &= left - 1) {
            ThreadRun& thread = thread_at(warp, lowest(left));
            thread.wait = Wait::none;
            thread.result.value = result;
        }
        warps_[warp].ready |= lanes;
        mark_runnable(warp);
    }
    barrier = {};
}

ptx::u32 BlockRun::meet(ThreadRun& thread, ptx::BarrierCall call, ptx::u32 number, ptx::u32 count, bool predicate) {
    const bool is_released = arrive_at_barrier(thread, call, number, count, predicate);
    if (call == ptx::BarrierCall::arrive) return 0;
    if (is_released)
        warps_[thread.warp].ready &= ~(1u << thread.lane);
    else
        suspend(thread);
    return static_cast<ptx::u32>(thread.result.value);
}

/// Returns whether the barrier has released its threads.
bool BlockRun::arrive_at_barrier(ThreadRun& thread, ptx::BarrierCall call, ptx::u32 number, ptx::u32 count,
                                 bool predicate) {
    Barrier& barrier = barriers_[number % barrier_count];
    ++barrier.arrived;
    barrier.trues += predicate;
    barrier.warps |= 1u << thread.warp;
    barrier.lanes[thread.warp] |= 1u << thread.lane;
    if (count != 0) barrier.expected = count;
    const ptx::u32 bit = 1u << thread.lane;
    if (call != ptx::BarrierCall::arrive) {
        barrier.call = call;
        thread.wait = Wait::barrier;
        thread.barrier = number;
        barrier.waiting[thread.warp] |= bit;
    }
    if (!is_complete(barrier)) return false;
    release(barrier);
    return true;
}

std::string BlockRun::describe() const {
    std::map<std::string, unsigned> groups;
    for (unsigned i = 0; i < count_; ++i) {
        const ThreadRun& thread = threads_[i];
        const std::string place = worker_.grid.place(thread.location);
        if ((warps_[thread.warp].live >> thread.lane & 1) == 0)
            ++groups["have ended"];
        else if (thread.wait == Wait::barrier)
            ++groups[text("wait at barrier ", thread.barrier, " (", place, ")")];
        else if (thread.wait == Wait::warp)
            ++groups[text("wait in a warp operation (", place, ")")];
        else if (thread.wait == Wait::cluster)
            ++groups[text("wait for their cluster (", place, ")")];
        else
            ++groups["could go on"];
    }
    std::string all;
    for (const auto& [what, count] : groups)
        all += text(all.empty() ? "" : ", ", count, " of ", count_, " threads ", what);
    return all;
}

// Split kernels.

void BlockRun::run_split_fiber(Fiber& fiber) {
    auto& block = *static_cast<BlockRun*>(fiber.argument);
    enter_fiber();
    block.run_split();
    switch_context(fiber.context, block.worker_.main);
    __builtin_unreachable();
}

BlockRun::State BlockRun::resume_split() {
    split_fiber_ = worker_.fibers.take();
    if (split_fiber_ == nullptr) {
        worker_.grid.set_out_of_stacks(block_);
        return State::failed;
    }
    split_fiber_->argument = this;
    block_.stack_low = reinterpret_cast<ptx::u64>(split_fiber_->low);
    worker_.turn_fiber = split_fiber_;
    worker_.turn = &block_;
    state_ = State::failed; // unless it returns
    begin_fiber(*split_fiber_, &BlockRun::run_split_fiber);
    worker_.enter(split_fiber_->context);
    worker_.fibers.give_back(*split_fiber_);
    worker_.current = nullptr;
    return state_;
}

/// Runs the threads together, and one by one while they are apart.
void BlockRun::run_split() {
    if (!is_together_)
        for (unsigned i = 0; i < warp_count_; ++i)
            if (warps_[i].yielded != 0) {
                warps_[i].ready |= warps_[i].yielded;
                warps_[i].yielded = 0;
                mark_runnable(i);
            }
    for (;;) {
        if (is_together_) {
            worker_.current = nullptr;
            if (split_->run() == SplitBlock::Outcome::done) {
                live_ = 0;
                state_ = State::done;
                cluster_.check();
                return;
            }
            worker_.current = this;
            take_apart();
        }
        worker_.current = this;
        while (!is_together_) {
            ThreadRun* const thread = next();
            if (thread == nullptr) return;
            step_thread(*thread);
            if (all_released_) is_together_ = put_together();
        }
    }
}

/// Gives each thread a run of its own, where the block has gone apart.
void BlockRun::take_apart() {
    is_together_ = false;
    all_released_ = false;
    if (threads_ == nullptr) begin_threads();
    live_ = 0;
    runnable_ = 0;
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        WarpRun& run = warps_[warp];
        run = {};
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
            const SplitBlock::Place place = split_->place_of(warp, lane);
            ThreadRun& thread = thread_at(warp, lane);
            thread.state = place.state;
            thread.wait = Wait::none;
            if (place.state == ptx::split_end) continue;
            run.live |= 1u << lane;
            ++live_;
            const unsigned number = warp * warp_lanes + lane;
            thread.result = {split_->slot<ptx::u32>(number, ptx::split_result),
                             split_->slot<ptx::u8>(number, ptx::split_answer) != 0};
            if (place.released) run.ready |= 1u << lane;
        }
        if (run.ready != 0) mark_runnable(warp);
    }
    for (unsigned warp = 0; warp < warp_count_; ++warp)
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
            const SplitBlock::Place place = split_->place_of(warp, lane);
            if (place.state != ptx::split_end && !place.released) arrive(thread_at(warp, lane));
        }
    all_released_ = false;
}

void BlockRun::step_thread(ThreadRun& thread) {
    const unsigned number = thread.warp * warp_lanes + thread.lane;
    split_->slot<ptx::u32>(number, ptx::split_result) = static_cast<ptx::u32>(thread.result.value);
    split_->slot<ptx::u8>(number, ptx::split_answer) = thread.result.predicate;
    thread.state = split_->step(number, thread.state);
    if (thread.state != ptx::split_end) return arrive(thread);
    warps_[thread.warp].live &= ~(1u << thread.lane);
    --live_;
    recheck_after_end(thread.warp);
}

/// A thread has come to the point of its state.
void BlockRun::arrive(ThreadRun& thread) {
    const unsigned number = thread.warp * warp_lanes + thread.lane;
    const ptx::u32 bit = 1u << thread.lane;
    WarpRun& warp = warps_[thread.warp];
    const ptx::SplitPoint& point = split_->point(thread.state);
    thread.location = point.location;
    switch (point.kind) {
    case ptx::SplitKind::pause:
        warp.yielded |= bit;
        return;
    case ptx::SplitKind::barrier: {
        const auto call = static_cast<ptx::BarrierCall>(point.call);
        arrive_at_barrier(thread, call, split_->first_of(number, point), split_->second_of(number, point),
                          split_->slot<ptx::u8>(number, ptx::split_flag) != 0);
        if (call == ptx::BarrierCall::arrive) {
            warp.ready |= bit;
            mark_runnable(thread.warp);
        }
        return;
    }
    case ptx::SplitKind::warp:
        thread.call = static_cast<ptx::WarpCall>(point.call);
        thread.mask = split_->mask_of(number, point);
        thread.first = split_->first_of(number, point);
        thread.second = split_->second_of(number, point);
        thread.value = split_->slot<ptx::u32>(number, ptx::split_value);
        if (thread.call == ptx::WarpCall::match_any || thread.call == ptx::WarpCall::match_all ||
            thread.call == ptx::WarpCall::active_mask)
            thread.value |= ptx::u64{split_->slot<ptx::u32>(number, ptx::split_high)} << 32;
        if (thread.call == ptx::WarpCall::active_mask) {
            thread.wait = Wait::mask;
            warp.asking |= bit;
            mark_runnable(thread.warp);
            return;
        }
        arrive_in_warp(thread);
        return;
    }
}

/// After a barrier of all threads: returns whether each warp is at one place.
bool BlockRun::put_together() {
    all_released_ = false;
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const WarpRun& run = warps_[warp];
        if (run.ready != run.live || run.waiting != 0 || run.yielded != 0 || run.asking != 0) return false;
        if (run.live == 0) continue;
        const ptx::u32 state = thread_at(warp, lowest(run.live)).state;
        for (ptx::u32 left = run.live; left != 0; left &= left - 1)
            if (thread_at(warp, lowest(left)).state != state) return false;
    }
    for (unsigned warp = 0; warp < warp_count_; ++warp) {
        const ptx::u32 live = warps_[warp].live;
        split_->put_together(warp, live, live == 0 ? ptx::split_end : thread_at(warp, lowest(live)).state);
        for (ptx::u32 left = live; left != 0; left &= left - 1) {
            const unsigned number = warp * warp_lanes + lowest(left);
            split_->slot<ptx::u32>(number, ptx::split_result) = static_cast<ptx::u32>(threads_[number].result.value);
        }
    }
    return true;
}

} // namespace cudart_cpu::detail
