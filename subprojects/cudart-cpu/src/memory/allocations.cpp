// The table of live allocations.
#include "allocations.hpp"

#include "allocation_number.hpp"
#include "device_variables.hpp"
#include "freed_memory.hpp"
#include "memory_pool.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/live_counts.hpp"
#include "runtime/text.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudart_cpu::detail {

namespace {

/// The device's alignment; kernels may rely on it.
constexpr std::align_val_t allocation_alignment{texture_alignment};

std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

struct Allocation {
    std::size_t bytes;
    AllocationKind kind;
    std::variant<Counted<Kind::device_allocation>, Counted<Kind::host_allocation>, std::monostate> counted;
    bool is_taken_address = false;
    bool is_registered = false;           // the program's own memory
    bool is_mapped = false;               // by the driver's cuMemMap
    std::shared_ptr<void> keep = nullptr; // for a taken address: set while it is allocated
    std::uint64_t number = next_number();
};

struct AllocationTable {
    std::shared_mutex mutex;
    std::map<const char*, Allocation> allocations;
    std::size_t device_bytes = 0;
};

/// The table is never destroyed: memory may be freed after main().
AllocationTable& allocation_table() {
    static auto* table = new AllocationTable;
    return *table;
}

bool is_host(const AllocationKind& kind) {
    return kind.type == cudaMemoryTypeHost;
}

using Entry = std::map<const char*, Allocation>::value_type;

/// Returns the entry with `pointer` inside; null if there is none. The table must be locked.
const Entry* find_entry(const void* pointer) {
    const auto* address = static_cast<const char*>(pointer);
    const auto& allocations = allocation_table().allocations;
    const auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) {
        return nullptr;
    }
    const Entry& before = *std::prev(after);
    return static_cast<std::size_t>(address - before.first) < before.second.bytes ? &before : nullptr;
}

/// Throws unless so many bytes are free. The table must be locked.
void require_free_memory(std::size_t bytes) {
    const std::size_t free = device_memory_bytes() - allocation_table().device_bytes;
    if (bytes > free) {
        fail(cudaErrorMemoryAllocation, text(bytes, " bytes requested, ", free, " bytes free"));
    }
}

/// Forgets registrations in memory that the program has since freed without unregistering it. The table must be locked.
void forget_registrations(const char* memory, std::size_t bytes) {
    auto& allocations = allocation_table().allocations;
    const auto end = allocations.lower_bound(memory + bytes);
    auto entry = allocations.lower_bound(memory);
    if (entry != allocations.begin()) {
        const auto before = std::prev(entry);
        const auto reach = static_cast<std::size_t>(memory - before->first);
        if (before->second.is_registered && before->second.bytes > reach) entry = before;
    }
    while (entry != end)
        entry = entry->second.is_registered ? allocations.erase(entry) : std::next(entry);
}

/// Adds an allocation. The table must be locked.
void enter(char* memory, std::size_t bytes, const AllocationKind& kind) {
    forget_registrations(memory, bytes);
    auto& entry = allocation_table().allocations.emplace(memory, Allocation{bytes, kind, {}}).first->second;
    if (is_host(kind)) {
        entry.counted.emplace<Counted<Kind::host_allocation>>();
    } else {
        allocation_table().device_bytes += bytes;
    }
}

} // namespace

namespace {

/// Whether `base` is a taken address without an allocation.
bool is_reserved(const char* base) {
    const std::shared_lock lock(allocation_table().mutex);
    const auto found = allocation_table().allocations.find(base);
    return found != allocation_table().allocations.end() && found->second.is_taken_address && !found->second.keep;
}

} // namespace

unsigned char fresh_byte_of(cudaMemoryType type) {
    enum class Zero { nothing, managed, all };
    static const Zero zero = [] {
        const char* const value = std::getenv("CUDART_CPU_ZERO");
        const std::string_view word = value == nullptr ? "" : value;
        if (word.empty()) return Zero::nothing;
        if (word == "managed") return Zero::managed;
        if (word == "all") return Zero::all;
        std::fprintf(stderr, "cudart-cpu: CUDART_CPU_ZERO is \"%s\"; it may be managed or all\n", value);
        std::abort();
    }();
    return zero == Zero::all || (zero == Zero::managed && type == cudaMemoryTypeManaged) ? 0 : fresh_byte;
}

void* allocate(std::size_t bytes, const AllocationKind& kind) {
    if (bytes == 0) {
        return nullptr;
    }
    std::unique_lock lock(allocation_table().mutex);
    require_free_memory(bytes);
    auto* memory = static_cast<char*>(::operator new(bytes, allocation_alignment));
    try {
        enter(memory, bytes, kind);
    } catch (...) {
        ::operator delete(memory, allocation_alignment);
        throw;
    }
    lock.unlock();
    std::memset(memory, fresh_byte_of(kind.type), bytes);
    return memory;
}

void* take_address(std::size_t bytes, int device) {
    const std::unique_lock lock(allocation_table().mutex);
    require_free_memory(bytes);
    auto* memory = static_cast<char*>(::operator new(bytes, allocation_alignment));
    try {
        const AllocationKind kind{.type = cudaMemoryTypeDevice, .device = device};
        allocation_table().allocations.emplace(memory, Allocation{bytes, kind, std::monostate{}, true});
    } catch (...) {
        ::operator delete(memory, allocation_alignment);
        throw;
    }
    return memory;
}

void give_up_address(void* address) noexcept {
    {
        const std::unique_lock lock(allocation_table().mutex);
        allocation_table().allocations.erase(static_cast<char*>(address));
    }
    ::operator delete(address, allocation_alignment);
}

void begin_allocation(void* address, std::shared_ptr<void> keep) {
    const std::unique_lock lock(allocation_table().mutex);
    Allocation& allocation = allocation_table().allocations.at(static_cast<char*>(address));
    allocation.keep = std::move(keep);
    allocation.counted.emplace<Counted<Kind::device_allocation>>();
}

bool is_allocated(const void* address) {
    const std::shared_lock lock(allocation_table().mutex);
    return allocation_table().allocations.at(static_cast<const char*>(address)).keep != nullptr;
}

DeadAllocation end_allocation(void* pointer, AllocatedOn side) {
    auto* base = static_cast<char*>(pointer);
    const std::unique_lock lock(allocation_table().mutex);
    const auto found = allocation_table().allocations.find(base);
    if (found == allocation_table().allocations.end()) {
        fail(cudaErrorInvalidValue, text(pointer, " is not the start of a live allocation"));
    }
    Allocation& allocation = found->second;
    if (allocation.is_taken_address) {
        if (!allocation.keep) {
            fail(cudaErrorInvalidValue, text(pointer, " belongs to a graph and is not allocated now"));
        }
        allocation.counted.emplace<std::monostate>();
        return {base, allocation.bytes, nullptr, std::move(allocation.keep)};
    }
    if (allocation.is_registered) {
        fail(cudaErrorInvalidValue, text(pointer, " is registered memory, which CUDA did not allocate"));
    }
    if (allocation.is_mapped) fail(cudaErrorInvalidValue, text(pointer, " is mapped memory, which cuMemUnmap ends"));
    if (is_host(allocation.kind) != (side == AllocatedOn::host)) {
        fail(cudaErrorInvalidValue, text(pointer, is_host(allocation.kind) ? " is host memory" : " is device memory"));
    }
    DeadAllocation dead{base, allocation.bytes, std::move(allocation.kind.pool), nullptr};
    note_ending(dead.base, dead.bytes);
    if (dead.pool) {
        dead.pool->free(dead.bytes);
    }
    if (side == AllocatedOn::device) {
        allocation_table().device_bytes -= dead.bytes;
    }
    allocation_table().allocations.erase(found);
    return dead;
}

void end_allocations_of(int device) {
    std::vector<std::pair<char*, AllocatedOn>> ending;
    {
        const std::unique_lock lock(allocation_table().mutex);
        std::erase_if(allocation_table().allocations, [=](const Entry& entry) {
            return entry.second.is_registered && entry.second.kind.device == device;
        });
        for (const auto& [base, allocation] : allocation_table().allocations)
            if (allocation.kind.device == device && !allocation.is_taken_address && !allocation.is_mapped)
                ending.emplace_back(const_cast<char*>(base),
                                    is_host(allocation.kind) ? AllocatedOn::host : AllocatedOn::device);
    }
    for (const auto& [base, side] : ending)
        release(end_allocation(base, side));
}

void enter_mapped(void* pointer, std::size_t bytes, int device) {
    const AllocationKind kind{.type = cudaMemoryTypeDevice, .device = device};
    const std::unique_lock lock(allocation_table().mutex);
    allocation_table()
        .allocations.emplace(static_cast<char*>(pointer), Allocation{bytes, kind, std::monostate{}})
        .first->second.is_mapped = true;
}

void leave_mapped(void* pointer) noexcept {
    unregister_memory(pointer);
}

void register_memory(void* pointer, std::size_t bytes, unsigned flags) {
    auto* const base = static_cast<char*>(pointer);
    const std::unique_lock lock(allocation_table().mutex);
    const auto next = allocation_table().allocations.lower_bound(base);
    const bool reaches_next = next != allocation_table().allocations.end() && next->first < base + bytes;
    const Entry* const around = find_entry(pointer);
    if (around != nullptr || reaches_next) {
        const Entry& other = around != nullptr ? *around : *next;
        fail(other.second.is_registered ? cudaErrorHostMemoryAlreadyRegistered : cudaErrorInvalidValue,
             text("bytes of ", pointer, " are part of an allocation or registered already"));
    }
    const AllocationKind kind{.type = cudaMemoryTypeHost, .host_flags = flags};
    allocation_table()
        .allocations.emplace(base, Allocation{bytes, kind, std::monostate{}})
        .first->second.is_registered = true;
}

void require_registered(const void* pointer) {
    const std::shared_lock lock(allocation_table().mutex);
    const Entry* const around = find_entry(pointer);
    if (around == nullptr || !around->second.is_registered)
        fail(cudaErrorHostMemoryNotRegistered, text(pointer, " is not registered memory"));
    if (around->first != pointer)
        fail(cudaErrorInvalidValue, text(pointer, " is within registered memory, not its start"));
}

void unregister_memory(void* pointer) noexcept {
    const std::unique_lock lock(allocation_table().mutex);
    allocation_table().allocations.erase(static_cast<char*>(pointer));
}

void release(const DeadAllocation& dead) noexcept {
    note_freed(dead.base, dead.bytes);
    std::memset(dead.base, freed_byte, dead.bytes);
    // Compilers omit writes to memory about to be freed.
    asm volatile("" : : "r"(dead.base) : "memory");
    if (dead.address) {
        return;
    }
    ::operator delete(dead.base, allocation_alignment);
    if (dead.pool) {
        dead.pool->release();
    }
}

std::optional<Range> find_allocation(const void* pointer) {
    {
        const std::shared_lock lock(allocation_table().mutex);
        if (const Entry* entry = find_entry(pointer)) {
            const auto& [base, allocation] = *entry;
            return Range{const_cast<char*>(base), allocation.bytes, allocation.kind.type, allocation.kind.device};
        }
    }
    return find_variable(pointer);
}

std::optional<Range> find_live_allocation(const void* pointer) {
    std::optional<Range> range = find_allocation(pointer);
    return range && is_reserved(range->base) ? std::nullopt : range;
}

std::optional<AllocationKind> kind_of(const void* pointer) {
    const std::shared_lock lock(allocation_table().mutex);
    const Entry* entry = find_entry(pointer);
    return entry == nullptr ? std::nullopt : std::optional(entry->second.kind);
}

std::uint64_t number_of_allocation(const void* pointer) {
    const std::shared_lock lock(allocation_table().mutex);
    const Entry* entry = find_entry(pointer);
    return entry == nullptr ? 0 : entry->second.number;
}

std::size_t device_memory_in_use() {
    const std::shared_lock lock(allocation_table().mutex);
    return allocation_table().device_bytes;
}

OwnDeviceMemory::OwnDeviceMemory(std::size_t bytes) {
    const std::unique_lock lock(allocation_table().mutex);
    bytes_ = std::min(bytes, device_memory_bytes() - allocation_table().device_bytes);
    allocation_table().device_bytes += bytes_;
}

OwnDeviceMemory::~OwnDeviceMemory() {
    const std::unique_lock lock(allocation_table().mutex);
    allocation_table().device_bytes -= bytes_;
}

} // namespace cudart_cpu::detail
