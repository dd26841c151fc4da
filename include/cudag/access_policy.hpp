// AccessPolicy: the treatment of a memory range by the L2 cache while a kernel runs.
#pragma once

#include <cudag/config.hpp>
#include <cudag/span.hpp>

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

namespace cudag {

/// The lifetime of a cache line in the L2 cache.
enum class AccessProperty : std::uint8_t {
    normal = cudaAccessPropertyNormal,
    streaming = cudaAccessPropertyStreaming,   ///< used once: evicted first
    persisting = cudaAccessPropertyPersisting, ///< stays, in the part of the cache set aside for such lines
};

/// A hint for the L2 cache: it treats the fraction `hit_ratio` of the cache lines of `memory` as `hit`, the others as
/// `miss`. Results stay the same.
///
///     config.access_policy = cudag::AccessPolicy{.memory = as_bytes(x), .hit_ratio = 0.5F};
///     b.kernel(config, step, x, n);
///
/// `memory` is borrowed; `as_bytes(span)` converts any span. `hit_ratio` is from 0 to 1, and `miss` is not
/// `persisting`; see LaunchConfig for the errors.
struct AccessPolicy {
    DeviceSpan<const std::byte> memory;
    float hit_ratio = 1.0F;
    AccessProperty hit = AccessProperty::persisting;
    AccessProperty miss = AccessProperty::streaming;
};

} // namespace cudag
