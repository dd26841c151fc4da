// Memory released for a while: the options of a release, and its amounts.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudag {

/// The contents of a CapturePool that a release keeps in host memory for the restoration.
enum class KeptContents : std::uint8_t {
    all,     ///< every byte, also of memory shared by graphs whose buffers are gone
    buffers, ///< the live buffers; other memory is undefined after the restoration
    none,    ///< nothing: all memory is undefined after the restoration
};

/// The options of `CapturePool::release`, and of `release_memory` of caches.
struct ReleaseOptions {
    KeptContents contents = KeptContents::all;
    friend bool operator==(const ReleaseOptions&, const ReleaseOptions&) = default;
};

/// The amounts of a release, in bytes.
struct ReleasedMemory {
    std::size_t pools = 0;        ///< given back to the device by CapturePools
    std::size_t graph_memory = 0; ///< given back to the device by alloc nodes: the next launch takes it again
    std::size_t kept = 0;         ///< host memory that holds the contents meanwhile
    std::size_t not_released = 0; ///< of CapturePools made without `.releasable`, which stay as they are
    friend bool operator==(const ReleasedMemory&, const ReleasedMemory&) = default;
};

/// Describes the amounts: "4.0 MiB released (pools 4.0 MiB), 1.0 MiB kept on the host". Leaves out what is 0.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const ReleasedMemory& memory);

} // namespace cudag
