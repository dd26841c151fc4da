// Memory footprints: what graphs, Execs, pools and caches hold, before and after the first launch.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cudag {

/// The memory of a CapturePool, in bytes.
struct PoolFootprint {
    std::string name;          ///< "CapturePool \"activations\" made at a.cpp:12"
    std::size_t used = 0;      ///< in live buffers
    std::size_t used_high = 0; ///< the maximum of `used` since the pool was made
    std::size_t reserved = 0;  ///< in buffers or for later ones: taken from the device; it shrinks by a release only
    std::size_t released = 0;  ///< given back to the device by `CapturePool::release`, until `restore`
    std::size_t kept = 0;      ///< host memory that holds the contents of a released pool
    friend bool operator==(const PoolFootprint&, const PoolFootprint&) = default;
};

/// The memory that a graph or an Exec needs, in bytes; of several together, such as the segments
/// of a SegmentedGraph, what they share counts once.
///
///     cudag::Graph graph = std::move(b).build();
///     const cudag::Footprint memory = graph.memory(); // before the first launch
///     if (memory.device() > (std::size_t{1} << 30)) std::puts(to_string(memory).c_str());
struct Footprint {
    /// CUDA's executable graph on the device, estimated by figures of an H100: 108 KiB for each branch, 2.5 KiB for
    /// each node but fills and joins. A line of nodes is one branch; of several successors of a node, all but one begin
    /// a branch. The branches of an Exec are those of its plan. Measured only in the footprint of an ExecCache.
    std::size_t executable = 0;
    /// Memory of alloc nodes. An address used again after a free node counts once. Of several graphs, the largest:
    /// graphs share the memory if they are launched in one stream.
    std::size_t graph_memory = 0;
    std::size_t graph_memory_requested = 0; ///< the sizes of all alloc nodes: `graph_memory` without reuse
    std::size_t buffers = 0;                ///< DeviceBuffers kept, and static inputs; without buffers of pools
    std::vector<PoolFootprint> pools;       ///< pools kept, by themselves or by one of their buffers, also released
    std::size_t parameters = 0;             ///< arguments of kernels, in host memory
    /// Host memory kept for copies: PinnedBuffers, values of `copied`, and a shared_ptr's object with the elements in
    /// itself, such as an array. The elements of a vector are elsewhere: they count as borrowed.
    std::size_t host_owned = 0;
    std::size_t host_borrowed = 0; ///< host memory used by copies that must outlive the launches

    /// Returns the device memory: `executable`, `graph_memory`, `buffers`, and the `reserved` memory of `pools`.
    [[nodiscard]] CUDAG_EXPORT std::size_t device() const noexcept;
    /// Returns the host memory kept: `parameters`, `host_owned`, and the `kept` memory of released `pools`.
    [[nodiscard]] CUDAG_EXPORT std::size_t host() const noexcept;
    /// Returns the device memory released for a while: the `released` memory of `pools`.
    [[nodiscard]] CUDAG_EXPORT std::size_t released() const noexcept;
    friend bool operator==(const Footprint&, const Footprint&) = default;
};

/// The memory of a cache: an ExecCache, a CaptureCache or a GraphedFunction.
struct CacheFootprint {
    Footprint memory;          ///< of all its graphs
    std::size_t graphs = 0;    ///< number of executable graphs
    std::size_t held = 0;      ///< device memory of the cache itself, in bytes: executables and static inputs
    std::size_t held_high = 0; ///< the maximum of `held` since the cache was made
    friend bool operator==(const CacheFootprint&, const CacheFootprint&) = default;
};

/// Describes the memory: "device: 3.1 MiB (executable 110.5 KiB, graph memory 1.0 MiB of 2.0 MiB requested, buffers 1.0
/// MiB, CapturePool \"a\" made at a.cpp:12 1.0 MiB); host: 24 bytes (parameters 24 bytes); borrowed: 4 bytes". Leaves
/// out what is 0.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Footprint& memory);
/// Describes the pool: "CapturePool \"a\" made at a.cpp:12: 1.0 MiB reserved, 512 bytes used, at most 1.0 KiB"; a
/// released one with ", 2.0 MiB released, 1.0 MiB kept on the host".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const PoolFootprint& pool);
/// Describes the cache: "3 graphs, 331.6 KiB held, at most 442.2 KiB; device: ...".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const CacheFootprint& cache);

} // namespace cudag
