// How the L2 cache treats a range of memory while a kernel runs.
#pragma once

#include <cudag/config.hpp>
#include <cudag/span.hpp>

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

namespace cudag {

/// How long a cache line should stay.
enum class AccessProperty : std::uint8_t {
    normal = cudaAccessPropertyNormal,
    streaming = cudaAccessPropertyStreaming,   ///< used once: goes first
    persisting = cudaAccessPropertyPersisting, ///< stays in the part of the cache that is set aside for this
};

/// `hit_ratio` of the cache lines of `memory` are treated as `hit`, the others as `miss`: a hint, without effect on
/// results. `memory` is borrowed; `as_bytes(span)` makes it of a span of anything. `miss` cannot be `persisting`.
struct AccessPolicy {
    DeviceSpan<const std::byte> memory;
    float hit_ratio = 1.0F;
    AccessProperty hit = AccessProperty::persisting;
    AccessProperty miss = AccessProperty::streaming;
};

} // namespace cudag
