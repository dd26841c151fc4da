// cudaMemPrefetchAsync and cudaMemAdvise, and queries of managed memory.
#include "capture/capture_rules.hpp"
#include "graph/graph_cuda12.hpp"
#include "memory/managed_hints.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace cudart_cpu::detail;

namespace {

using Pages = std::vector<PageHints>;
using PlaceMember = std::optional<Place> PageHints::*;

void advise(PageHints& hints, int advice, const std::optional<Place>& place) {
    const auto set_access = [&](bool access) {
        if (place->type == cudaMemLocationTypeDevice)
            hints.accessed_by[static_cast<std::size_t>(place->id)] = access;
        else
            hints.is_accessed_by_host = access;
    };
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
        hints.is_read_mostly = advice == cudaMemAdviseSetReadMostly;
        return;
    case cudaMemAdviseSetPreferredLocation:
        hints.preferred = place;
        return;
    case cudaMemAdviseUnsetPreferredLocation:
        hints.preferred.reset();
        return;
    default:
        set_access(advice == cudaMemAdviseSetAccessedBy);
    }
}

/// Returns the place. An unknown device is an invalid value in advice, unlike in a prefetch.
Place place_to_advise(const cudaMemLocation& location) {
    if (number_in(location.type) == cudaMemLocationTypeDevice &&
        (location.id < 0 || static_cast<std::size_t>(location.id) >= device_count()))
        fail(cudaErrorInvalidValue, text("there is no device ", location.id, " to advise"));
    return place_of(location);
}

/// Returns the advice's place, if it has one.
std::optional<Place> place_of_advice(int advice, const cudaMemLocation& location) {
    switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
    case cudaMemAdviseUnsetPreferredLocation:
        return std::nullopt;
    case cudaMemAdviseSetPreferredLocation:
        return place_to_advise(location);
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        if (const Place place = place_to_advise(location); number_in(location.type) == cudaMemLocationTypeDevice ||
                                                           number_in(location.type) == cudaMemLocationTypeHost)
            return place;
        fail(cudaErrorInvalidValue, "access is advised of a device or of the host, not of a NUMA node");
    default:
        fail(cudaErrorInvalidValue, text("advice ", advice, " is unknown"));
    }
}

/// Returns the value common to all pages; none if they differ.
std::optional<Place> common(const Pages& pages, PlaceMember member) {
    const std::optional<Place>& first = pages.front().*member;
    const bool same = std::ranges::all_of(pages, [&](const PageHints& page) { return page.*member == first; });
    return same ? first : std::nullopt;
}

int device_number(const std::optional<Place>& place) {
    if (!place) return cudaInvalidDeviceId;
    return place->type == cudaMemLocationTypeDevice ? place->id : cudaCpuDeviceId;
}

/// Returns the devices advised to access all pages, in an array of `count`.
std::vector<int> accessing(const Pages& pages, std::size_t count) {
    const auto of_all = [&](auto&& access) { return std::ranges::all_of(pages, access); };
    std::vector<int> devices;
    for (std::size_t device = 0; device < max_devices; ++device)
        if (of_all([&](const PageHints& page) { return page.accessed_by[device]; }))
            devices.push_back(static_cast<int>(device));
    if (of_all([](const PageHints& page) { return page.is_accessed_by_host; })) devices.push_back(cudaCpuDeviceId);
    devices.resize(count, cudaInvalidDeviceId);
    return devices;
}

int number_of(const Pages& pages, int attribute) {
    const auto type_of = [&](PlaceMember member) {
        const std::optional<Place> place = common(pages, member);
        return place ? place->type : cudaMemLocationTypeInvalid;
    };
    const auto id_of = [&](PlaceMember member) {
        const std::optional<Place> place = common(pages, member);
        return place ? place->id : cudaInvalidDeviceId;
    };
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
        return std::ranges::all_of(pages, &PageHints::is_read_mostly) ? 1 : 0;
    case cudaMemRangeAttributePreferredLocation:
        return device_number(common(pages, &PageHints::preferred));
    case cudaMemRangeAttributeLastPrefetchLocation:
        return device_number(common(pages, &PageHints::prefetched));
    case cudaMemRangeAttributePreferredLocationType:
        return type_of(&PageHints::preferred);
    case cudaMemRangeAttributePreferredLocationId:
        return id_of(&PageHints::preferred);
    case cudaMemRangeAttributeLastPrefetchLocationType:
        return type_of(&PageHints::prefetched);
    case cudaMemRangeAttributeLastPrefetchLocationId:
        return id_of(&PageHints::prefetched);
    default:
        fail(cudaErrorInvalidValue, text("attribute ", attribute, " of a range of memory is unknown"));
    }
}

void write_attribute(void* data, std::size_t size, const cudaMemRangeAttribute& attribute, const Pages& pages) {
    require_pointer(data, "data");
    const int number = number_in(attribute);
    std::vector<int> values;
    if (number != cudaMemRangeAttributeAccessedBy) {
        values.push_back(number_of(pages, number));
        if (size != sizeof(int)) fail(cudaErrorInvalidValue, text("the size of an attribute is 4, not ", size));
    } else {
        if (size == 0 || size % sizeof(int) != 0)
            fail(cudaErrorInvalidValue, text("the size of a list of devices is a multiple of 4, not ", size));
        values = accessing(pages, size / sizeof(int));
    }
    std::memcpy(data, values.data(), size);
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location,
                                                unsigned flags, cudaStream_t stream) {
    return api("cudaMemPrefetchAsync", [&] {
        if (flags != 0) fail(cudaErrorInvalidValue, text("the flags of a prefetch are ", flags, "; they must be 0"));
        const ManagedRange range = managed_range(pointer, count);
        const Place place = place_of(location);
        Stream& target = stream_of(stream);
        refuse_capturing_now(target);
        range.change([&](PageHints& hints) { hints.prefetched = place; });
        enqueue(target, [] {}); // the memory stays in place; the order of streams is kept
    });
}

CUDART_CPU_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                                         cudaMemLocation location) {
    return api("cudaMemAdvise", [&] {
        const ManagedRange range = managed_range(pointer, count);
        const int number = number_in(advice);
        const std::optional<Place> place = place_of_advice(number, location);
        range.change([&](PageHints& hints) { advise(hints, number, place); });
    });
}

CUDART_CPU_API cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t size, cudaMemRangeAttribute attribute,
                                                    const void* pointer, std::size_t count) {
    return api("cudaMemRangeGetAttribute",
               [&] { write_attribute(data, size, attribute, managed_range(pointer, count).pages()); });
}

CUDART_CPU_API cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes,
                                                     std::size_t attribute_count, const void* pointer,
                                                     std::size_t count) {
    return api("cudaMemRangeGetAttributes", [&] {
        require_pointer(data, "data");
        require_pointer(sizes, "dataSizes");
        require_pointer(attributes, "attributes");
        if (attribute_count == 0) fail(cudaErrorInvalidValue, "no attribute is asked for");
        const Pages pages = managed_range(pointer, count).pages();
        for (std::size_t i = 0; i < attribute_count; ++i)
            write_attribute(data[i], sizes[i], attributes[i], pages);
    });
}
