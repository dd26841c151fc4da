// ExecCache: executable graphs by structure, for programs that make graph after graph.
#pragma once

#include <cudag/config.hpp>
#include <cudag/exec.hpp>
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

} // namespace detail

struct ExecCacheOptions {
    std::size_t capacity = 64; ///< how many execs are kept; at least 1
    /// Of device memory, as measured with the first launch of each: the least recently launched go where there are
    /// more.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    bool stream_affine = false; ///< each exec is launched in one stream only: that of its first launch
    InstantiateOptions instantiate = {};
};

/// What an ExecCache has done since it was made, and what it holds.
struct ExecCacheStats {
    std::uint64_t hits = 0;           ///< launches of an exec that had the graph already
    std::uint64_t updates = 0;        ///< launches of one that was updated to it
    std::uint64_t instantiations = 0; ///< launches of a new one
    std::uint64_t evictions = 0;
    std::size_t execs = 0;
    std::size_t bytes = 0;          ///< of device memory; CUDA takes it in large pieces, so that many execs show none
    double update_seconds = 0;      ///< of this thread, refused updates included; told from one update in 13
    double instantiate_seconds = 0; ///< of this thread, with first launches and the measuring of memory
};

/// Launches graphs by execs that are kept, in the cheapest way there is: if an exec has this very graph, it is
/// launched; if one was made of a graph with the same structure, it is updated first, by the nodes in which the graph
/// differs where these are few, and not at all where there are none; else the graph is instantiated.
/// The structure is what an update cannot change: kinds of nodes, edges, kernels, and attributes that CUDA fixes; never
/// pointers, sizes or values. Of several execs that fit, the least recently launched is updated. What was changed in a
/// graph since its last launch is brought in, too.
/// If there are more execs than `capacity`, or more bytes than `max_bytes`, the least recently launched that is not in
/// flight goes; while all are in flight, none does. Each exec keeps the graph that it was made of and the one that it
/// has, with their owners. Destroying the cache, and `clear`, wait for launches in flight. Move-only; a moved-from
/// cache throws GraphError. Threads: one at a time on one cache, but for const calls.
class CUDAG_EXPORT ExecCache {
  public:
    /// Throws GraphError if `options.capacity` is 0.
    explicit ExecCache(ExecCacheOptions options = {});
    ExecCache(ExecCache&&) noexcept;
    ExecCache& operator=(ExecCache&&) noexcept;
    ~ExecCache();

    /// Enqueues one run of `graph` in `stream`. Asynchronous. The exec that was launched is good until the next call on
    /// this cache. If there is no memory for a new exec, the memory of former graphs is trimmed, all execs that are not
    /// in flight go, and it is tried once more. Throws InstantiateError if `graph` cannot be instantiated, and then
    /// says how many execs are alive; Error if CUDA refuses the launch, and UpdateError where `Exec::update` does.
    const Exec& launch(const Graph& graph, StreamRef stream);

    /// Drops all execs.
    void clear();

    [[nodiscard]] ExecCacheStats stats() const;

  private:
    [[nodiscard]] detail::ExecStore& store() const;

    std::unique_ptr<detail::ExecStore> store_;
};

/// "2 execs, 4.0 MiB; 10 hits, 3 updates in 0.12 ms, 4 instantiations in 1.50 ms, 2 evictions"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const ExecCacheStats& stats);

} // namespace cudag
