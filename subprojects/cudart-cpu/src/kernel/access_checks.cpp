// What CUDART_CPU_CHECK asks for: whether kernels' accesses are to memory that is there, and in an order.
#include "access_checks.hpp"

#include "grid_run.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace cudart_cpu::detail {

namespace {

using ptx::u32;
using ptx::u64;

struct Freed {
    const char* base;
    std::size_t bytes;
};

struct Known {
    std::mutex mutex;
    std::array<Freed, 256> freed{};
    std::size_t next = 0;
    std::map<const char*, std::size_t> heap; ///< of kernels, and what is ending
};

/// Never destroyed: kernels may run after main().
Known& known() {
    static auto* all = new Known;
    return *all;
}

bool within(u64 at, u64 bytes, const void* base, u64 size) {
    const auto begin = reinterpret_cast<u64>(base);
    return at >= begin && at - begin <= size && bytes <= size - (at - begin);
}

bool in_heap(u64 at, u64 bytes) {
    const std::lock_guard lock(known().mutex);
    const auto after = known().heap.upper_bound(reinterpret_cast<const char*>(at));
    if (after == known().heap.begin()) return false;
    const auto& [base, size] = *std::prev(after);
    return within(at, bytes, base, size);
}

std::optional<Freed> freed_at(u64 at) {
    const std::lock_guard lock(known().mutex);
    for (std::size_t i = 0; i < known().freed.size(); ++i) {
        const Freed& one = known().freed[(known().next + known().freed.size() - 1 - i) % known().freed.size()];
        if (within(at, 1, one.base, one.bytes)) return one;
    }
    return std::nullopt;
}

/// Where the address is, seen from the allocation next to it.
std::string surroundings(u64 at) {
    const auto* const pointer = reinterpret_cast<const char*>(at);
    if (const auto range = find_allocation(pointer))
        return text("of which only ", static_cast<u64>(range->base + range->bytes - pointer),
                    " are left in an allocation of ", range->bytes, " bytes");
    if (const auto freed = freed_at(at))
        return text(static_cast<u64>(pointer - freed->base), " bytes into an allocation of ", freed->bytes,
                    " bytes that has been freed");
    for (u64 distance = 1; distance <= 1 << 16; distance *= 2) {
        if (const auto range = find_allocation(pointer - distance))
            return text(static_cast<u64>(pointer - range->base) - range->bytes, " bytes behind an allocation of ",
                        range->bytes, " bytes");
        if (const auto range = find_allocation(pointer + distance))
            return text(static_cast<u64>(range->base - pointer), " bytes before an allocation of ", range->bytes,
                        " bytes");
    }
    return "where nothing is allocated";
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
        in_heap(at, bytes))
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
    std::string reason =
        text(verb(access), bytes, " bytes at ", reinterpret_cast<const void*>(at), ", ", surroundings(at));
    fail_thread(thread, cudaErrorIllegalAddress, std::move(reason), location);
}

} // namespace

namespace {

struct Checks {
    u32 of_kernels = 0;
    bool writes = false;
};

const Checks& environment() {
    static const Checks checks = [] {
        const char* const value = std::getenv("CUDART_CPU_CHECK");
        std::string_view left = value == nullptr ? "" : value;
        Checks found;
        while (!left.empty()) {
            const std::size_t end = std::min(left.find(','), left.size());
            const std::string_view word = left.substr(0, end);
            left.remove_prefix(std::min(end + 1, left.size()));
            if (word == "memory")
                found.of_kernels |= ptx::check_memory;
            else if (word == "race")
                found.of_kernels |= ptx::check_race;
            else if (word == "writes")
                found.writes = true;
            else if (word == "1")
                found = {ptx::check_memory | ptx::check_race, true};
            else {
                std::fprintf(stderr,
                             "cudart-cpu: CUDART_CPU_CHECK is \"%s\"; it may be memory, race, writes, some of these "
                             "with commas, or 1 for all\n",
                             value);
                std::abort();
            }
        }
        return found;
    }();
    return checks;
}

} // namespace

u32 checks_from_environment() {
    return environment().of_kernels;
}

bool checks_writes() {
    return environment().writes;
}

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

void note_ending(const void* memory, std::size_t bytes) noexcept {
    if (checks_from_environment() == 0) return;
    const std::lock_guard lock(known().mutex);
    known().heap[static_cast<const char*>(memory)] = bytes;
}

void note_freed(const void* memory, std::size_t bytes) noexcept {
    if (checks_from_environment() == 0) return;
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    all.heap.erase(static_cast<const char*>(memory));
    all.freed[all.next++ % all.freed.size()] = {static_cast<const char*>(memory), bytes};
}

void note_kernel_memory(void* memory, std::size_t bytes) {
    const std::lock_guard lock(known().mutex);
    known().heap[static_cast<const char*>(static_cast<const void*>(memory))] = bytes;
}

void forget_kernel_memory(const void* memory) {
    const std::lock_guard lock(known().mutex);
    known().heap.erase(static_cast<const char*>(memory));
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu;
using namespace cudart_cpu::detail;

CUDART_CPU_API void cudart_cpu_check(ptx::Thread& thread, ptx::u64 at, ptx::u32 bytes, ptx::Access access,
                                     ptx::u32 location) {
    const ptx::Block& block = *thread.block;
    if ((block.checks & ptx::check_memory) != 0) check_memory(thread, at, bytes, access, location);
    const ptx::u64 offset = at - reinterpret_cast<ptx::u64>(block.shared);
    BlockRun* const run = current_worker()->current;
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
    if (BlockRun* const run = current_worker()->current) run->accesses().next_epoch();
}
