// Reserved addresses, physical memory and mappings of one to the other: the driver's virtual memory management.
#include "virtual_memory.hpp"

#include "allocations.hpp"
#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <memory>
#include <mutex>

namespace cudart_cpu::detail {

namespace {

/// Memory as a file of its own, which may be mapped at several addresses.
class PhysicalMemory {
  public:
    PhysicalMemory(std::size_t bytes, int device)
        : bytes_(bytes), device_(device), file_(memfd_create("cudart-cpu memory", MFD_CLOEXEC)) {
        if (file_ == -1 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
            if (file_ != -1) close(file_);
            fail(cudaErrorMemoryAllocation, text("the system has no ", bytes, " bytes"));
        }
    }
    ~PhysicalMemory() { close(file_); }
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] int file() const noexcept { return file_; }

    std::uintptr_t handle = 0; ///< the last one
    int references = 0;        ///< of the handle

  private:
    std::size_t bytes_;
    int device_;
    int file_;
    OwnDeviceMemory counted_{bytes_};
};

struct Mapping {
    std::size_t bytes;
    std::shared_ptr<PhysicalMemory> memory;
    MappedAccess access = MappedAccess::none;
};

struct VirtualMemory {
    std::mutex mutex;
    std::map<char*, std::size_t> reservations;
    std::map<char*, Mapping> mappings;
    /// The neighbouring mappings with access, entered together as one allocation, by begin.
    std::map<char*, std::size_t> entered;
};

/// Never destroyed: memory may be used after main().
VirtualMemory& virtual_memory() {
    static auto* all = new VirtualMemory;
    return *all;
}

HandleTable<PhysicalMemory, void*>& physical_memories() {
    static auto& table = *new HandleTable<PhysicalMemory, void*>;
    return table;
}

std::shared_ptr<PhysicalMemory> physical_memory(std::uintptr_t handle) {
    std::shared_ptr<PhysicalMemory> memory = physical_memories().find(reinterpret_cast<void*>(handle));
    if (!memory) fail(cudaErrorInvalidValue, text("memory handle ", handle, " is not alive"));
    return memory;
}

void require_units(const char* what, std::size_t bytes) {
    if (bytes == 0 || bytes % mapping_granularity != 0)
        fail(cudaErrorInvalidValue, text(what, " ", bytes, " is no multiple of ", mapping_granularity));
}

int protection(MappedAccess access) noexcept {
    switch (access) {
    case MappedAccess::none:
        return PROT_NONE;
    case MappedAccess::read:
        return PROT_READ;
    default:
        return PROT_READ | PROT_WRITE;
    }
}

/// Returns the mappings that make up exactly these addresses. Throws unless there are such.
std::pair<std::map<char*, Mapping>::iterator, std::map<char*, Mapping>::iterator> whole_mappings(char* base,
                                                                                                 std::size_t bytes) {
    auto& mappings = virtual_memory().mappings;
    const auto first = mappings.find(base);
    auto next = first;
    std::size_t found = 0;
    while (next != mappings.end() && next->first == base + found && found < bytes)
        found += (next++)->second.bytes;
    if (first == mappings.end() || found != bytes)
        fail(cudaErrorInvalidValue,
             text(bytes, " bytes at ", static_cast<void*>(base), " are not exactly one or several mappings"));
    return {first, next};
}

/// Enters the runs of neighbouring mappings with access as allocations, anew where they changed.
void enter_runs() {
    VirtualMemory& all = virtual_memory();
    std::map<char*, std::pair<std::size_t, int>> runs;
    for (auto one = all.mappings.begin(); one != all.mappings.end();) {
        char* const begin = one->first;
        const int device = one->second.memory->device();
        std::size_t bytes = 0;
        while (one != all.mappings.end() && one->first == begin + bytes && one->second.access != MappedAccess::none)
            bytes += (one++)->second.bytes;
        if (bytes != 0)
            runs.emplace(begin, std::pair(bytes, device));
        else
            ++one;
    }
    std::erase_if(all.entered, [&](const auto& entered) {
        const auto run = runs.find(entered.first);
        if (run != runs.end() && run->second.first == entered.second) return false;
        leave_mapped(entered.first);
        return true;
    });
    for (const auto& [begin, run] : runs)
        if (all.entered.emplace(begin, run.first).second) enter_mapped(begin, run.first, run.second);
}

} // namespace

void* reserve_addresses(std::size_t bytes, std::size_t alignment, void* wanted) {
    require_units("the size", bytes);
    if ((alignment & (alignment - 1)) != 0)
        fail(cudaErrorInvalidValue, text("the alignment ", alignment, " is no power of two"));
    const std::size_t unit = std::max(alignment, mapping_granularity);
    const std::size_t room = bytes + unit;
    void* const found = mmap(wanted, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) fail(cudaErrorMemoryAllocation, text("the system has no ", bytes, " addresses"));
    auto* const begin = static_cast<char*>(found);
    const std::size_t before = (unit - reinterpret_cast<std::uintptr_t>(begin) % unit) % unit;
    if (before != 0) munmap(begin, before);
    munmap(begin + before + bytes, room - before - bytes);
    VirtualMemory& all = virtual_memory();
    const std::lock_guard lock(all.mutex);
    all.reservations.emplace(begin + before, bytes);
    return begin + before;
}

void give_back_addresses(void* base, std::size_t bytes) {
    VirtualMemory& all = virtual_memory();
    auto* const begin = static_cast<char*>(base);
    const std::lock_guard lock(all.mutex);
    const auto found = all.reservations.find(begin);
    if (found == all.reservations.end() || found->second != bytes)
        fail(cudaErrorInvalidValue, text(bytes, " bytes at ", base, " are no reservation"));
    const auto mapped = all.mappings.lower_bound(begin);
    if (mapped != all.mappings.end() && mapped->first < begin + bytes)
        fail(cudaErrorInvalidValue, text("memory is still mapped to the addresses at ", base));
    munmap(base, bytes);
    all.reservations.erase(found);
}

std::uintptr_t make_physical_memory(std::size_t bytes, int device) {
    require_units("the size", bytes);
    if (bytes > device_memory_bytes() - device_memory_in_use())
        fail(cudaErrorMemoryAllocation,
             text(bytes, " bytes requested, ", device_memory_bytes() - device_memory_in_use(), " bytes free"));
    auto memory = std::make_shared<PhysicalMemory>(bytes, device);
    memory->references = 1;
    void* const handle = physical_memories().add(memory);
    return memory->handle = reinterpret_cast<std::uintptr_t>(handle);
}

void release_physical_memory(std::uintptr_t handle) {
    const std::lock_guard lock(virtual_memory().mutex);
    const std::shared_ptr<PhysicalMemory> memory = physical_memory(handle);
    if (--memory->references == 0) physical_memories().take(reinterpret_cast<void*>(handle));
}

std::uintptr_t retain_physical_memory(const void* address) {
    VirtualMemory& all = virtual_memory();
    auto* const place = static_cast<char*>(const_cast<void*>(address));
    const std::lock_guard lock(all.mutex);
    const auto after = all.mappings.upper_bound(place);
    if (after == all.mappings.begin() || place >= std::prev(after)->first + std::prev(after)->second.bytes)
        fail(cudaErrorInvalidValue, text("no memory is mapped to ", address));
    const std::shared_ptr<PhysicalMemory>& memory = std::prev(after)->second.memory;
    if (memory->references++ == 0) memory->handle = reinterpret_cast<std::uintptr_t>(physical_memories().add(memory));
    return memory->handle;
}

int device_of_physical_memory(std::uintptr_t handle) {
    return physical_memory(handle)->device();
}

void map_memory(void* base, std::size_t bytes, std::size_t offset, std::uintptr_t handle) {
    require_units("the size", bytes);
    if (offset != 0) fail(cudaErrorInvalidValue, text("the offset is ", offset, "; it must be 0"));
    VirtualMemory& all = virtual_memory();
    auto* const begin = static_cast<char*>(base);
    const std::lock_guard lock(all.mutex);
    const std::shared_ptr<PhysicalMemory> memory = physical_memory(handle);
    if (bytes != memory->bytes())
        fail(cudaErrorInvalidValue, text("the mapping has ", bytes, " bytes, its memory ", memory->bytes()));
    const auto after = all.reservations.upper_bound(begin);
    const bool is_reserved =
        after != all.reservations.begin() && begin + bytes <= std::prev(after)->first + std::prev(after)->second;
    if (!is_reserved || reinterpret_cast<std::uintptr_t>(base) % mapping_granularity != 0)
        fail(cudaErrorInvalidValue, text(bytes, " bytes at ", base, " are not reserved"));
    const auto next = all.mappings.upper_bound(begin);
    const bool meets_next = next != all.mappings.end() && next->first < begin + bytes;
    const bool meets_last =
        next != all.mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin;
    if (meets_next || meets_last) fail(cudaErrorInvalidValue, text("memory is mapped to ", base, " already"));
    if (mmap(base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->file(), 0) == MAP_FAILED)
        fail(cudaErrorMemoryAllocation, text("the system cannot map ", bytes, " bytes"));
    all.mappings.emplace(begin, Mapping{bytes, memory});
}

void unmap_memory(void* base, std::size_t bytes) {
    const std::lock_guard lock(virtual_memory().mutex);
    const auto [first, end] = whole_mappings(static_cast<char*>(base), bytes);
    for (auto one = first; one != end; ++one)
        one->second.access = MappedAccess::none;
    enter_runs();
    mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    virtual_memory().mappings.erase(first, end);
}

void set_mapped_access(void* base, std::size_t bytes, MappedAccess access) {
    const std::lock_guard lock(virtual_memory().mutex);
    const auto [first, end] = whole_mappings(static_cast<char*>(base), bytes);
    mprotect(base, bytes, protection(access));
    for (auto one = first; one != end; ++one)
        one->second.access = access;
    enter_runs();
}

MappedAccess mapped_access(const void* address) {
    VirtualMemory& all = virtual_memory();
    auto* const place = static_cast<char*>(const_cast<void*>(address));
    const std::lock_guard lock(all.mutex);
    const auto after = all.mappings.upper_bound(place);
    if (after == all.mappings.begin() || place >= std::prev(after)->first + std::prev(after)->second.bytes)
        fail(cudaErrorInvalidValue, text("no memory is mapped to ", address));
    return std::prev(after)->second.access;
}

} // namespace cudart_cpu::detail
