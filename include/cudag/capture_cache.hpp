// CaptureCache: functions that are captured once they are called again and again, and replayed from then on.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/capture_report.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/cache_key.hpp>
#include <cudag/detail/cached_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/exec.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/steps.hpp>
#include <cudag/stream.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

class CaptureStore;

} // namespace detail

struct CaptureCacheOptions {
    /// How many calls of a key run eagerly before one is captured, so that libraries load, tune and allocate then.
    unsigned warm_up = 2;
    /// How many graphs are kept, and how many keys besides that have none; at least 1.
    std::size_t capacity = 16;
    /// How often a key whose capture failed is captured again, each time after `warm_up` more calls.
    unsigned retries = 1;
    CaptureMode mode = CaptureMode::thread_local_;
    /// As in CaptureOrRunOptions.
    bool refuse_legacy_stream = true;
    InstantiateOptions instantiate = {};
};

/// How CaptureCache::run has run a function.
enum class RunKind {
    eager,    ///< by calling it
    captured, ///< by calling it, and launching what was recorded
    replayed, ///< by launching what an earlier call has recorded
};

/// Device memory that calls of one key find elsewhere each time: for CaptureCache::run. Borrowed.
class ChangingBuffer {
  public:
    /// A DeviceBuffer, a DeviceSpan, also of const elements, or a shared_ptr to one of them.
    template <class Memory>
    requires(!std::is_same_v<Memory, ChangingBuffer>)
    ChangingBuffer(const Memory& memory) { // NOLINT: stands in a list
        if constexpr (detail::require_operand<const Memory&>()) {
            detail::Owners owners;
            const auto operand = detail::to_operand(memory, 0, owners);
            static_assert(operand.side == detail::Side::device,
                          "cudag: the buffers of a run are device memory; host memory is to be told by the key");
            // what is not to be written is not: only its address is looked at
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

/// Runs functions of a stream: eagerly at first, then captured, then replayed without being called. A key says which
/// work it is, and must tell whatever the work depends on: sizes, addresses, values that kernels are given.
/// Calls of a key are counted whatever comes between them. What cannot be captured runs eagerly, and `report` says why.
/// A graph refers to memory and host values as they were at the capture: `forget` the key when they have changed.
/// It owns the function it was captured from and what that returned, as do its launches in flight; other memory is
/// borrowed as StreamCapture says.
/// If there are more graphs than `capacity`, the least recently run that is not in flight goes; while all are in
/// flight, none does. Destroying the cache, `clear` and `forget` wait for launches in flight. Move-only; a moved-from
/// cache throws GraphError. Threads: one at a time on one cache, but for const calls; a function that it calls may use
/// it, too.
class CUDAG_EXPORT CaptureCache {
  public:
    /// Throws GraphError if `options.capacity` is 0.
    explicit CaptureCache(CaptureCacheOptions options = {});
    CaptureCache(CaptureCache&&) noexcept;
    CaptureCache& operator=(CaptureCache&&) noexcept;
    ~CaptureCache();

    /// Runs `function(stream)` or, for its steps and forks, `function(Steps&)`; asynchronous. `key` is a value with ==
    /// that can be copied, or a std::tuple of such; keys of different types are different. Text is kept as a string.
    /// `function` is captured in `stream`, whose device must always be the same; what is captured is a copy of it,
    /// moved from an rvalue. What it returns, such as an owner, is kept until the work has ended and is not replayed
    /// any more. A call that is captured, and fails to, runs as one of `capture_or_run` does; that says what is done
    /// once, and what passes through. A stream that is being captured gets the work by a call of the function, which
    /// becomes part of that capture; the cache takes no notice. Throws CaptureError while this thread captures another
    /// stream, as StreamCapture says. Throws Error if CUDA refuses a launch, as the second of a graph that leaves
    /// memory allocated, without auto_free_on_launch. After an exception the cache is as before.
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

    /// The same for work on `buffers`, of which the key need not tell where they are: a replay uses those that it is
    /// given, in the order of the list, wherever the captured call has used its own, also in objects that kernels take
    /// (see BufferParam). All calls of a key have as many buffers, each as long as the captured one's or longer, and of
    /// the same alignment. A pointer to a buffer's end is exchanged with the buffer. Some calls have no replay, as the
    /// buffers cannot be told apart or exchanged; then the key's calls run eagerly, and `report` says why:
    ///   - buffers overlap in the captured call, or are copied in two or three dimensions
    ///   - a kernel takes a buffer and a pointer to its end, where other memory begins, such as another buffer
    ///   - a node uses memory that begins before a buffer and reaches into it, or frees a buffer
    ///   - a node was captured that cudag does not know, such as a conditional that a library makes
    /// Throws UpdateError if a buffer is too short, GraphError if the number of buffers is another.
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

    /// Drops what is known of `key`, so that it warms up and is captured again. Whether anything was.
    template <class Key>
    bool forget(const Key& key) {
        if constexpr (detail::require_key<Key>()) {
            decltype(auto) stored = detail::stored_key(key);
            return forget(detail::view_of_key(stored));
        } else {
            return false;
        }
    }

    /// Forgets all keys.
    void clear();

    [[nodiscard]] CaptureCacheStats stats() const;
    [[nodiscard]] CaptureCacheReport report() const;

  private:
    RunKind run(cudaStream_t stream, const detail::KeyView& key, std::span<const ChangingBuffer> buffers,
                const detail::CachedCall& call, const SourceLocation& location);
    bool forget(const detail::KeyView& key);
    [[nodiscard]] detail::CaptureStore& store() const;

    std::unique_ptr<detail::CaptureStore> store_;
};

} // namespace cudag
