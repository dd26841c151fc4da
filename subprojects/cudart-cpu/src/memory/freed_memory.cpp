// Memory outside of live allocations, recorded for CUDART_CPU_CHECK.
#include "freed_memory.hpp"

#include "memory.hpp"
#include "runtime/checks.hpp"
#include "runtime/text.hpp"

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace cudart_cpu::detail {

namespace {

struct KnownMemory {
    std::mutex mutex;
    std::array<FreedMemory, 256> freed{};
    std::size_t next = 0;
    std::map<const char*, std::size_t> kept; ///< heaps of kernels, and allocations that are ending
};

/// The registry is never destroyed: kernels may run after main().
KnownMemory& known_memory() {
    static auto* all = new KnownMemory;
    return *all;
}

bool is_within(const void* memory, std::size_t bytes, const char* base, std::size_t size) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    return at >= begin && at - begin <= size && bytes <= size - (at - begin);
}

} // namespace

void note_ending(const void* memory, std::size_t bytes) noexcept {
    if (checks_from_environment() == 0) return;
    const std::lock_guard lock(known_memory().mutex);
    known_memory().kept[static_cast<const char*>(memory)] = bytes;
}

void note_freed(const void* memory, std::size_t bytes) noexcept {
    if (checks_from_environment() == 0) return;
    KnownMemory& all = known_memory();
    const std::lock_guard lock(all.mutex);
    all.kept.erase(static_cast<const char*>(memory));
    all.freed[all.next++ % all.freed.size()] = {static_cast<const char*>(memory), bytes};
}

void note_kernel_memory(void* memory, std::size_t bytes) {
    const std::lock_guard lock(known_memory().mutex);
    known_memory().kept[static_cast<const char*>(memory)] = bytes;
}

void forget_kernel_memory(const void* memory) {
    const std::lock_guard lock(known_memory().mutex);
    known_memory().kept.erase(static_cast<const char*>(memory));
}

bool is_kept_memory(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(known_memory().mutex);
    const auto& kept = known_memory().kept;
    const auto after = kept.upper_bound(static_cast<const char*>(memory));
    if (after == kept.begin()) return false;
    const auto& [base, size] = *std::prev(after);
    return is_within(memory, bytes, base, size);
}

std::optional<FreedMemory> find_freed_memory(const void* pointer) {
    KnownMemory& all = known_memory();
    const std::lock_guard lock(all.mutex);
    for (std::size_t i = 0; i < all.freed.size(); ++i) {
        const FreedMemory& one = all.freed[(all.next + all.freed.size() - 1 - i) % all.freed.size()];
        if (is_within(pointer, 1, one.base, one.bytes)) return one;
    }
    return std::nullopt;
}

std::string surroundings_of(const void* address) {
    const auto* const pointer = static_cast<const char*>(address);
    if (const auto range = find_allocation(pointer))
        return text("of which only ", static_cast<std::uint64_t>(range->base + range->bytes - pointer),
                    " are left in an allocation of ", range->bytes, " bytes");
    if (const auto freed = find_freed_memory(pointer))
        return text(static_cast<std::uint64_t>(pointer - freed->base), " bytes into an allocation of ", freed->bytes,
                    " bytes that has been freed");
    for (std::uint64_t distance = 1; distance <= 1 << 16; distance *= 2) {
        if (const auto range = find_allocation(pointer - distance))
            return text(static_cast<std::uint64_t>(pointer - range->base) - range->bytes,
                        " bytes behind an allocation of ", range->bytes, " bytes");
        if (const auto range = find_allocation(pointer + distance))
            return text(static_cast<std::uint64_t>(range->base - pointer), " bytes before an allocation of ",
                        range->bytes, " bytes");
    }
    return "where nothing is allocated";
}

} // namespace cudart_cpu::detail
