// Checks of kernels' accesses: to existing memory only, and in an order.
#include "access_checks.hpp"

#include "grid_run.hpp"
#include "memory/freed_memory.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <string_view>
#include <utility>

namespace cudart_cpu::detail {

namespace {

using ptx::u32;
using ptx::u64;

bool within(u64 at, u64 bytes, const void* base, u64 size) {
    const auto begin = reinterpret_cast<u64>(base);
    return at >= begin && at - begin <= size && bytes <= size - (at - begin);
}

const char* verb(ptx::Access access) {
    return access == ptx::Access::read ? "reads " : access == ptx::Access::write ? "writes " : "changes ";
}

void check_memory(ptx::Thread& thread, u64 at, u32 bytes, ptx::Access access, u32 location) {
    if (at % bytes != 0)
        fail_thread(thread, cudaErrorMisalignedAddress,
                    text(verb(access), bytes, " bytes at ", reinterpret_cast<const void*>(at),
                         ", which is not a multiple of ", bytes),
                    location);
    const ptx::Block& block = *thread.block;
    if (within(at, bytes, block.shared, block.total_shared) || current_worker()->grid.is_own(at, bytes) ||
        is_kept_memory(reinterpret_cast<const void*>(at), bytes))
        return;
    if (const BlockRun* const run = current_worker()->current)
        for (const auto& other : run->cluster().blocks)
            if (within(at, bytes, other->block().shared, block.total_shared)) return;
    if (const Fiber* const fiber = current_worker()->fiber_of(thread);
        fiber != nullptr && within(at, bytes, fiber->low, static_cast<u64>(fiber->top - fiber->low) + 64))
        return;
    const auto range = find_allocation(reinterpret_cast<const void*>(at));
    if (range && within(at, bytes, range->base, range->bytes)) return;
    if (at - reinterpret_cast<u64>(block.shared) < (1u << 20))
        fail_thread(thread, cudaErrorIllegalAddress,
                    text(verb(access), bytes, " bytes at ", at - reinterpret_cast<u64>(block.shared),
                         " of shared memory, of which the block has ", block.total_shared),
                    location);
    const auto* const pointer = reinterpret_cast<const void*>(at);
    std::string reason = text(verb(access), bytes, " bytes at ", pointer, ", ", surroundings_of(pointer));
    fail_thread(thread, cudaErrorIllegalAddress, std::move(reason), location);
}

} // namespace

bool SharedAccesses::conflicts(const Use& use, unsigned thread) const noexcept {
    if (use.epoch != epoch_ || use.thread == thread) return false;
    const unsigned warp = use.thread / warp_lanes;
    return warp != thread / warp_lanes || use.warp_epoch == warp_epochs_[warp];
}

bool SharedAccesses::use(std::size_t at, std::size_t count, unsigned thread, bool writes, Conflict& conflict) {
    const Use now{epoch_, warp_epochs_[thread / warp_lanes], static_cast<std::uint16_t>(thread)};
    for (std::size_t i = at; i < at + count && i < bytes_.size(); ++i) {
        Byte& byte = bytes_[i];
        if (conflicts(byte.write, thread)) {
            conflict = {byte.write.thread, true};
            return true;
        }
        if (!writes) {
            if (conflicts(byte.read, thread)) byte.other_read = byte.read;
            byte.read = now;
            continue;
        }
        for (const Use& read : {byte.read, byte.other_read})
            if (conflicts(read, thread)) {
                conflict = {read.thread, false};
                return true;
            }
        byte.write = now;
    }
    return false;
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu;
using namespace cudart_cpu::detail;

CUDART_CPU_API void cudart_cpu_check(ptx::Thread& thread, ptx::u64 at, ptx::u32 bytes, ptx::Access access,
                                     ptx::u32 location, ptx::u32 order) {
    const ptx::Block& block = *thread.block;
    if ((block.checks & ptx::check_memory) != 0) check_memory(thread, at, bytes, access, location);
    const ptx::u64 offset = at - reinterpret_cast<ptx::u64>(block.shared);
    BlockRun* const run = current_worker()->current;
    if ((block.checks & ptx::keep_lockstep) != 0 && order != 0 && run != nullptr)
        run->step(static_cast<ThreadRun&>(thread), order, access == ptx::Access::change);
    if ((block.checks & ptx::check_race) == 0 || offset >= block.total_shared || access == ptx::Access::change ||
        run == nullptr)
        return;
    SharedAccesses::Conflict conflict{};
    const unsigned number = thread.warp * warp_lanes + thread.lane;
    if (!run->accesses().use(offset, bytes, number, access == ptx::Access::write, conflict)) return;
    fail_thread(thread, cudaErrorLaunchFailure,
                text("race: ", verb(access), bytes, " bytes at ", offset, " of shared memory, which thread ",
                     conflict.other, " of the block has ", conflict.other_wrote ? "written" : "read",
                     " since they last met"),
                location);
}

CUDART_CPU_API void cudart_cpu_note_order(ptx::Thread&) {
    BlockRun* const run = current_worker()->current;
    if (run != nullptr && run->seeks_races()) run->accesses().next_epoch();
}
