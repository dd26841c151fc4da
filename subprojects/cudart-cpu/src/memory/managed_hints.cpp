// Hints of a program for managed memory: advice and prefetches, page by page.
#include "managed_hints.hpp"

#include "allocations.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <iterator>

namespace cudart_cpu::detail {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t page_of(std::size_t byte) {
    return byte / page_bytes * page_bytes;
}

} // namespace

ManagedHints::Parts::iterator ManagedHints::cut(std::size_t at) {
    const auto after = parts_.upper_bound(at);
    const auto before = std::prev(after);
    return before->first == at ? before : parts_.emplace_hint(after, at, before->second);
}

void ManagedHints::change(std::size_t begin, std::size_t end, const std::function<void(PageHints&)>& how) {
    const std::lock_guard lock(mutex_);
    const std::size_t last = page_of(end + page_bytes - 1);
    auto part = cut(page_of(begin));
    const auto stop = last < bytes_ ? cut(last) : parts_.end();
    for (; part != stop; ++part)
        how(part->second);
}

std::vector<PageHints> ManagedHints::of(std::size_t begin, std::size_t end) const {
    const std::lock_guard lock(mutex_);
    std::vector<PageHints> pages;
    for (auto part = std::prev(parts_.upper_bound(page_of(begin))); part != parts_.end() && part->first < end; ++part)
        pages.push_back(part->second);
    return pages;
}

ManagedRange managed_range(const void* pointer, std::size_t bytes) {
    if (bytes == 0) fail(cudaErrorInvalidValue, "the size of a range of managed memory is 0");
    const std::optional<AllocationKind> kind = kind_of(pointer);
    if (!kind || !kind->managed) fail(cudaErrorInvalidValue, text(pointer, " is no managed memory"));
    const Range range = find_allocation(pointer).value();
    const auto begin = static_cast<std::size_t>(static_cast<const char*>(pointer) - range.base);
    if (bytes > range.bytes - begin)
        fail(cudaErrorInvalidValue,
             text("bytes ", begin, " to ", begin + bytes, " leave a managed allocation of ", range.bytes));
    return {kind->managed, begin, begin + bytes};
}

Place place_of(const cudaMemLocation& location) {
    const int type = number_in(location.type);
    switch (type) {
    case cudaMemLocationTypeDevice:
        require_device(location.id);
        return {type, location.id};
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNumaCurrent:
        return {cudaMemLocationTypeHost, cudaCpuDeviceId};
    case cudaMemLocationTypeHostNuma:
        if (location.id < 0) fail(cudaErrorInvalidDevice, text("there is no NUMA node ", location.id));
        return {type, location.id};
    default:
        fail(cudaErrorInvalidValue, text("location type ", type, " is unknown"));
    }
}

cudaMemLocation location_of(int device) {
    cudaMemLocation location{};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device;
    return location;
}

} // namespace cudart_cpu::detail
