// CUDA 13's batches of copies, prefetches and discards.
#include "capture/capture_rules.hpp"
#include "memory/allocations.hpp"
#include "memory/managed_hints.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"
#include "submit/copy_batch.hpp"

#include <cstring>
#include <vector>

#if CUDART_VERSION >= 13000

using namespace cudart_cpu::detail;

namespace {

struct Ranges {
    void** pointers;
    std::size_t* sizes;
    std::size_t count;
};

struct Destinations {
    cudaMemLocation* locations;
    std::size_t* first_ranges;
    std::size_t count;
};

Stream& stream_of_batch(cudaStream_t handle) {
    Stream& stream = stream_of(handle);
    if (is_legacy(stream)) fail(cudaErrorInvalidValue, "a batch cannot be in the legacy default stream");
    refuse_capturing_now(stream);
    return stream;
}

void require_flags(unsigned long long flags) {
    if (flags != 0) fail(cudaErrorInvalidValue, text("the flags of a batch are ", flags, "; they must be 0"));
}

std::vector<ManagedRange> checked(const Ranges& ranges) {
    if (ranges.count == 0) fail(cudaErrorInvalidValue, "a batch has at least one range");
    require_pointer(ranges.pointers, "dptrs");
    require_pointer(ranges.sizes, "sizes");
    std::vector<ManagedRange> result;
    for (std::size_t i = 0; i < ranges.count; ++i)
        result.push_back(managed_range(ranges.pointers[i], ranges.sizes[i]));
    return result;
}

/// Returns the place of each range.
std::vector<Place> checked(const Destinations& to, std::size_t range_count) {
    require_pointer(to.locations, "prefetchLocs");
    require_pointer(to.first_ranges, "prefetchLocIdxs");
    if (to.count == 0 || to.count > range_count)
        fail(cudaErrorInvalidValue, text(to.count, " locations for ", range_count, " ranges"));
    std::vector<Place> places;
    for (std::size_t i = 0; i < to.count; ++i) {
        const std::size_t first = to.first_ranges[i];
        const std::size_t next = i + 1 < to.count ? to.first_ranges[i + 1] : range_count;
        // A location that begins where the next one does is accepted, and applies to no range.
        if (first != places.size() || next < first || first == range_count || next > range_count)
            fail(cudaErrorInvalidValue, text("location ", i, " begins at range ", first, " of ", range_count));
        places.resize(next, place_of(to.locations[i]));
    }
    return places;
}

/// Makes the memory indeterminate: it looks like fresh memory, so that a use is noticed.
void discard(const Ranges& ranges, Stream& stream) {
    for (std::size_t i = 0; i < ranges.count; ++i)
        enqueue(stream,
                [memory = ranges.pointers[i], bytes = ranges.sizes[i]] { std::memset(memory, fresh_byte, bytes); });
}

void prefetch(const std::vector<ManagedRange>& ranges, const std::vector<Place>& places, Stream& stream) {
    for (std::size_t i = 0; i < ranges.size(); ++i)
        ranges[i].change([&](PageHints& hints) { hints.prefetched = places[i]; });
    enqueue(stream, [] {});
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemcpyBatchAsync(void* const* destinations, const void* const* sources,
                                                const std::size_t* sizes, std::size_t count,
                                                cudaMemcpyAttributes* attributes, std::size_t* first_of_attributes,
                                                std::size_t attribute_count, cudaStream_t stream) {
    return api("cudaMemcpyBatchAsync", [&] {
        submit_copies({destinations, sources, sizes, count, attributes, first_of_attributes, attribute_count}, stream);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* operations,
                                                  unsigned long long flags, cudaStream_t stream) {
    return api("cudaMemcpy3DBatchAsync", [&] { submit_copies(operations, count, flags, stream); });
}

CUDART_CPU_API cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                                     cudaMemLocation* locations, std::size_t* first_ranges,
                                                     std::size_t location_count, unsigned long long flags,
                                                     cudaStream_t stream) {
    return api("cudaMemPrefetchBatchAsync", [&] {
        require_flags(flags);
        Stream& target = stream_of_batch(stream);
        const std::vector<ManagedRange> ranges = checked(Ranges{pointers, sizes, count});
        prefetch(ranges, checked(Destinations{locations, first_ranges, location_count}, count), target);
    });
}

CUDART_CPU_API cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                                    unsigned long long flags, cudaStream_t stream) {
    return api("cudaMemDiscardBatchAsync", [&] {
        require_flags(flags);
        Stream& target = stream_of_batch(stream);
        const Ranges ranges{pointers, sizes, count};
        checked(ranges);
        discard(ranges, target);
    });
}

CUDART_CPU_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                                               cudaMemLocation* locations, std::size_t* first_ranges,
                                                               std::size_t location_count, unsigned long long flags,
                                                               cudaStream_t stream) {
    return api("cudaMemDiscardAndPrefetchBatchAsync", [&] {
        require_flags(flags);
        Stream& target = stream_of_batch(stream);
        const Ranges ranges{pointers, sizes, count};
        const std::vector<ManagedRange> managed = checked(ranges);
        const std::vector<Place> places = checked(Destinations{locations, first_ranges, location_count}, count);
        discard(ranges, target);
        prefetch(managed, places, target);
    });
}

#endif
