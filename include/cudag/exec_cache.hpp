// ExecCache: Execs by structure, for programs that create many graphs one after the other.
#pragma once

#include <cudag/config.hpp>
#include <cudag/exec.hpp>
#include <cudag/footprint.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace cudag {

class Graph;

namespace detail {

class ExecStore;
struct CacheContent;

} // namespace detail

/// The options of an ExecCache.
struct ExecCacheOptions {
    std::size_t capacity = 64; ///< maximum number of Execs; at least 1
    /// Maximum device memory of the Execs, in bytes, measured at the first launch of each. Execs in flight may exceed
    /// both maxima.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    bool stream_affine = false; ///< launches each Exec only in the stream of its first launch
    InstantiateOptions instantiate = {};
};

/// Counts of an ExecCache's launches since its construction, and of its present content.
struct ExecCacheStats {
    std::uint64_t hits = 0;           ///< launches of an Exec already holding the graph
    std::uint64_t updates = 0;        ///< launches of an Exec updated to the graph
    std::uint64_t instantiations = 0; ///< launches of a new Exec
    std::uint64_t evictions = 0;
    std::size_t execs = 0;
    std::size_t bytes = 0;          ///< device memory; CUDA takes it in large pieces, so many Execs add none
    double update_seconds = 0;      ///< elapsed in updates, also refused ones; estimated from one in 13
    double instantiate_seconds = 0; ///< elapsed, with first launches and the measuring of memory
    std::uint64_t returns = 0; ///< instantiations of structures whose Exec was dropped before, among `instantiations`
    /// The `capacity` with room for the Execs of all recurring structures.
    std::size_t needed_capacity = 0;
};

/// Launches graphs through cached Execs, in the cheapest way possible.
///
///     cudag::ExecCache cache;
///     for (int i = 1; i <= 100; ++i) {
///         cudag::GraphBuilder builder;
///         builder.kernel(config, scale, x, 1.0f / static_cast<float>(i), n);
///         cache.launch(std::move(builder).build(), stream); // one instantiation, then updates
///     }
///
/// - If an Exec holds this very graph, it is launched. Changes of the graph since its last launch are applied first.
/// - Else, if an Exec was made from a graph of the same structure, it is updated and launched. If few nodes differ,
///   only these are updated; if none differ, nothing is.
/// - Else the graph is instantiated.
/// The structure is the part of a graph that no update can change: kinds of nodes, edges, kernels, and attributes fixed
/// by CUDA; never pointers, sizes or values. If several Execs fit, the least recently launched one is updated. If there
/// are more Execs than `capacity`, or more bytes than `max_bytes`, the cache drops an Exec not in flight: the one whose
/// structure comes least often, or has not come for long. Structures that come in turns, more than there is room for,
/// share one place, and the others stay. Each Exec keeps its source graph and its present graph alive, with their
/// owners. The destructor and `clear` wait for launches in flight. Move-only; a moved-from cache throws GraphError.
/// Threads: one at a time on one cache, except for const calls.
class CUDAG_EXPORT ExecCache {
  public:
    /// Makes an empty cache; `location` names it in errors. Throws GraphError if `options.capacity` is 0.
    explicit ExecCache(ExecCacheOptions options = {}, SourceLocation location = SourceLocation::current());
    ExecCache(ExecCache&&) noexcept;
    ExecCache& operator=(ExecCache&&) noexcept;
    ~ExecCache();

    /// Launches `graph` once in `stream`, and returns the launched Exec, valid until the next call on this cache.
    /// Asynchronous.
    /// If memory for a new Exec is missing, the cache trims graph memory, drops all Execs not in flight, and tries once
    /// more. Throws InstantiateError if `graph` cannot be instantiated; after a lack of memory, its text gives the
    /// number of live Execs. Throws Error if CUDA refuses the launch, and UpdateError as `Exec::update` does.
    const Exec& launch(const Graph& graph, StreamRef stream);

    /// Drops all Execs. Waits for launches in flight.
    void clear();

    /// Returns the counts since the construction, and the present number and memory of the Execs.
    [[nodiscard]] ExecCacheStats stats() const;
    /// Returns the memory of the Execs, with the high-water mark of what CUDA took for them.
    [[nodiscard]] CacheFootprint memory() const;

    /// Releases the memory of this cache for a while, without dropping a graph: gives the memory of all releasable
    /// CapturePools that its graphs keep back to the device (see `CapturePool::release`), and all unused graph memory
    /// of the current device. Waits for the device. A launch of a graph with released memory throws Error, until
    /// `restore_memory`, also in other caches; graph memory comes back by itself. Throws Error if CUDA or the host
    /// refuses: pools released by the call are then restored.
    ReleasedMemory release_memory(ReleaseOptions options = {});
    /// Takes the memory of the pools again, at the same addresses. Returns the size in bytes. Throws Error if the
    /// device lacks memory: the call can be repeated.
    std::size_t restore_memory();

  private:
    [[nodiscard]] detail::ExecStore& store() const;
    [[nodiscard]] detail::CacheContent content() const;

    std::unique_ptr<detail::ExecStore> store_;
};

/// Describes the counts: "2 execs, 4.0 MiB; 10 hits, 3 updates in 0.12 ms, 4 instantiations in 1.50 ms, 2 evictions". A
/// crowded cache adds ", 3 returns: capacity 66 would keep all".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const ExecCacheStats& stats);

} // namespace cudag
