// CaptureCache: eager runs of stream functions at first, then a capture, then replays, by key.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/capture_report.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/cache_key.hpp>
#include <cudag/detail/cached_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/exec.hpp>
#include <cudag/footprint.hpp>
#include <cudag/frozen_value.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/steps.hpp>
#include <cudag/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

class CaptureStore;
struct CacheContent;

} // namespace detail

/// The options of a CaptureCache.
struct CaptureCacheOptions {
    /// Number of eager runs of a key before its capture, for libraries to load, tune and allocate.
    unsigned warm_up = 2;
    /// Maximum number of graphs; at least 1. Graphs in flight may exceed it.
    std::size_t capacity = 16;
    /// Number of further captures of a key after its first failed one, each after `warm_up` more eager runs.
    unsigned retries = 1;
    CaptureMode mode = CaptureMode::thread_local_;
    /// Makes CUDA refuse work in the legacy default stream during captures, as in CaptureOrRunOptions.
    bool refuse_legacy_stream = true;
    InstantiateOptions instantiate = {};
    /// Verifies every n-th replay of a key: captures the function of that call again, without a run, and throws
    /// FrozenValueError if it records other work than the kept graph. 0: never, at no cost. A verified call calls the
    /// function, so its host work is done again, and takes the time of a capture.
    std::uint64_t verify = 0;
    /// Maximum device memory of the graphs, in bytes, by an estimate: 2.5 KiB for each node, and 108 KiB for each
    /// branch if the plan has changed the edges, else once (see Footprint::executable). CUDA itself tells only of large
    /// pieces, which many graphs share. Memory allocated by nodes does not count: graphs share it.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    std::size_t min_graphs = 1; ///< number of graphs that stay even if they exceed `max_bytes`; at least 1
    /// Maximum number of keys without a graph, whose calls are counted; at least 1. The least recently run one goes.
    std::size_t known_keys = 1024;
    /// Makes a step that fails in a capture a break from the next call on, as if it had been given to Steps::eager: the
    /// other steps are captured. For functions whose steps pass values to each other through device memory alone, and
    /// return nothing: a replay skips them. Such a break is tried as a step again after 64 replays, and, as long as it
    /// fails, after twice as many each time.
    bool learn_breaks = false;
};

/// The way CaptureCache::run ran a function.
enum class RunKind {
    eager,    ///< by calling it
    captured, ///< by calling it, and launching the recorded graph
    replayed, ///< by launching the graph of an earlier call
};

/// Device memory at an address that may change between calls of a key: an argument of CaptureCache::run. Borrowed until
/// the work has run.
///
///     cudag::CaptureCache cache;
///     for (cudag::DeviceBuffer<float>* data : {&x, &y, &x, &y})
///         cache.run(stream, "library", {*data}, [&](cudaStream_t s) { library_call(s, data->data(), n); });
class ChangingBuffer {
  public:
    /// Refers to a DeviceBuffer, a DeviceSpan (also of const elements), or a shared_ptr to one of them.
    template <class Memory>
    requires(!std::is_same_v<Memory, ChangingBuffer>)
    ChangingBuffer(const Memory& memory) { // NOLINT: stands in a list
        if constexpr (detail::require_operand<const Memory&>()) {
            detail::Owners owners;
            const auto operand = detail::to_operand(memory, 0, owners);
            static_assert(operand.side == Side::device,
                          "cudag: the buffers of a run are device memory; identify host memory by the key");
            // const elements are never written: only their address is used
            bytes_ = {
                reinterpret_cast<std::byte*>(
                    const_cast<std::remove_const_t<std::remove_pointer_t<decltype(operand.data)>>*>(operand.data)),
                operand.size * sizeof *operand.data};
        }
    }

    [[nodiscard]] DeviceSpan<std::byte> bytes() const noexcept { return bytes_; }

  private:
    DeviceSpan<std::byte> bytes_;
};

/// Runs functions of a stream: eagerly at first, then captured, then by replays of the graph, without calling them
/// (functions with breaks are called).
///
///     cudag::CaptureCache cache;
///     for (int i = 0; i < 100; ++i) // two eager runs, a capture, 97 replays
///         cache.run(stream, n, [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     std::puts(to_string(cache.report()).c_str());
///
/// The key identifies the work. It must include every value the work depends on: sizes, addresses, values passed to
/// kernels. The cache counts the calls of each key, regardless of calls in between. Work that cannot be captured runs
/// eagerly, and `report` gives the reason.
/// A graph refers to memory and host values as of its capture: `forget` the key after they change. The graph and its
/// launches in flight own the captured function and its return value; other memory is borrowed as in StreamCapture.
/// If there are `capacity` graphs, a further key runs eagerly, until it comes clearly more often than the least used
/// key with a graph. It is then captured in place of that key, without a new warm-up. `report` tells of keys without
/// room. Graphs in flight stay. The destructor, `clear` and `forget` wait for launches in flight. Move-only; a
/// moved-from cache throws GraphError. Threads: one at a time on one cache, except for const calls. A function called
/// by the cache may use the cache, too.
class CUDAG_EXPORT CaptureCache {
  public:
    /// Makes an empty cache; `location` names it in errors. Throws GraphError if `options.capacity` is 0.
    explicit CaptureCache(CaptureCacheOptions options = {}, SourceLocation location = SourceLocation::current());
    CaptureCache(CaptureCache&&) noexcept;
    CaptureCache& operator=(CaptureCache&&) noexcept;
    ~CaptureCache();

    /// Runs `function(stream)`, or `function(Steps&)` for steps and forks, as the work of `key`. Asynchronous.
    /// - `key` is a copyable value with ==, or a std::tuple of such values; keys of different types differ. Text is
    ///   kept as a string.
    /// - `function` is captured in `stream`; the device must be the same in all calls. The cache captures its own copy
    ///   of the function, or moves it from an rvalue. It keeps the return value, for example an owner, until the work
    ///   has ended and is no longer replayed.
    /// - A function with breaks (Steps::eager) is captured as segments, and called in each replay: its steps are
    ///   skipped, and their graphs are launched, n + 1 for n breaks; the functions of breaks, and code between steps,
    ///   run. In the capturing call it is called once more, without a run and without breaks. It returns nothing,
    ///   allocates nothing by cudag outside of breaks, and has all its work in steps without results; otherwise it runs
    ///   eagerly, and `report` gives the reason. A replay on another path than the captured one goes on eagerly if the
    ///   paths part at a break; otherwise it throws CaptureError, with the work up to there enqueued.
    /// - A failed capture ends in an eager run, as in `capture_or_run`: see there for work done once or twice, and for
    ///   exceptions.
    /// - If `stream` is already being captured, the function is called and becomes part of that capture; the cache
    ///   ignores the call.
    /// Throws FrozenValueError if a verified replay would use values of an earlier call, CaptureError if its function
    /// cannot be captured again, or if this thread is capturing another stream (see StreamCapture), and Error if CUDA
    /// refuses a launch, for example the second launch of a graph that leaves memory allocated, without
    /// auto_free_on_launch. An exception leaves the cache unchanged.
    template <class Key, class Callable>
    requires detail::StepsFunction<std::remove_reference_t<Callable>>
    RunKind run( // cudag: run(stream, key, function) calls function(cudaStream_t) or function(cudag::Steps&)
        StreamRef stream, const Key& key, Callable&& function, SourceLocation location = SourceLocation::current()) {
        if constexpr (std::is_function_v<std::remove_reference_t<Callable>>) {
            return run(stream, key, &function, location);
        } else if constexpr (detail::require_key<Key>() && detail::require_cached_function<Callable>()) {
            decltype(auto) stored = detail::stored_key(key);
            return run(stream.get(), detail::view_of_key(stored), {}, detail::cached_call<Callable>(function),
                       location);
        } else {
            return RunKind::eager;
        }
    }

    /// Runs `function` as the work of `key` on `buffers`, whose addresses the key need not include. Otherwise acts as
    /// the `run` without `buffers`. A replay uses the given buffers, in list order, in place of the captured ones, also
    /// in objects passed to kernels (see BufferParam). A pointer to a buffer's end is exchanged with the buffer. All
    /// calls of a key pass equally many buffers, each of at least the captured length, and of the same alignment. Calls
    /// of a key always run eagerly, and `report` gives the reason, if the buffers cannot be told apart or exchanged:
    /// - buffers overlap in the captured call, or are copied in two or three dimensions;
    /// - a kernel takes a buffer, and a pointer to its end at which other memory begins, such as another buffer;
    /// - a node uses memory beginning before a buffer and reaching into it, or frees a buffer;
    /// - the capture contains a node unknown to cudag, such as a conditional node made by a library.
    /// Throws UpdateError if a buffer is too short, GraphError if the number of buffers differs.
    template <class Key, class Callable>
    requires detail::StepsFunction<std::remove_reference_t<Callable>>
    RunKind run( // cudag: run(stream, key, {buffers...}, function)
        StreamRef stream, const Key& key, std::initializer_list<ChangingBuffer> buffers, Callable&& function,
        SourceLocation location = SourceLocation::current()) {
        if constexpr (std::is_function_v<std::remove_reference_t<Callable>>) {
            return run(stream, key, buffers, &function, location);
        } else if constexpr (detail::require_key<Key>() && detail::require_cached_function<Callable>()) {
            decltype(auto) stored = detail::stored_key(key);
            return run(stream.get(), detail::view_of_key(stored), std::span(buffers.begin(), buffers.size()),
                       detail::cached_call<Callable>(function), location);
        } else {
            return RunKind::eager;
        }
    }

    /// Drops the graph and the history of `key`, so that it warms up and is captured again. Returns false if the cache
    /// did not have the key. Waits for launches of the graph in flight.
    template <class Key>
    bool forget(const Key& key) {
        if constexpr (detail::require_key<Key>()) {
            decltype(auto) stored = detail::stored_key(key);
            return forget(detail::view_of_key(stored));
        } else {
            return false;
        }
    }

    /// Forgets all keys. Waits for launches in flight.
    void clear();

    /// Returns the counts since the construction, and the present numbers of keys and graphs.
    [[nodiscard]] CaptureCacheStats stats() const;
    /// Returns the counts, and the history of each key: its state, and the reason for a failed capture.
    [[nodiscard]] CaptureCacheReport report() const;
    /// Returns the memory of the graphs, with the high-water mark of their executables (see
    /// CaptureCacheOptions::max_bytes). Reads the graphs.
    [[nodiscard]] CacheFootprint memory() const;

    /// Gives the memory of the releasable pools kept by the graphs back to the device, and unused graph memory, until
    /// `restore_memory`: see ExecCache::release_memory.
    ReleasedMemory release_memory(ReleaseOptions options = {});
    std::size_t restore_memory();

  private:
    RunKind run(cudaStream_t stream, const detail::KeyView& key, std::span<const ChangingBuffer> buffers,
                const detail::CachedCall& call, const SourceLocation& location);
    bool forget(const detail::KeyView& key);
    [[nodiscard]] detail::CaptureStore& store() const;
    [[nodiscard]] detail::CacheContent content() const;

    std::unique_ptr<detail::CaptureStore> store_;
};

} // namespace cudag
