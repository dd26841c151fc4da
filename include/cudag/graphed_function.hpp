// GraphedFunction: a stream function, captured once for each shape of its inputs, and replayed from then on.
#pragma once

#include <cudag/bucket.hpp>
#include <cudag/config.hpp>
#include <cudag/copied_input.hpp>
#include <cudag/detail/graphed_task.hpp>
#include <cudag/exec.hpp>
#include <cudag/frozen_value.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// The options of a GraphedFunction.
struct GraphedFunctionOptions {
    /// Number of eager runs before the capture, for libraries to load, tune and allocate.
    unsigned warm_up_runs = 1;
    /// Maximum number of shapes with a graph; at least 1. Each has its own static inputs, outputs and graph.
    std::size_t capacity = 8;
    /// Maximum device memory of the shapes, in bytes: static inputs, unless these are in a pool, and graphs, by the
    /// estimate of CaptureCacheOptions::max_bytes. The shape of the last call stays in any case.
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    std::size_t min_graphs = 1; ///< number of shapes that stay even if they exceed `max_bytes`; at least 1
    /// Lets replays read inputs in place instead of copying them, if the function takes them as `DeviceSpan<const
    /// Element>`. Such an input is borrowed until the replay has run. The function must not return it, and must reach
    /// it only through its nodes' parameters (see BufferParam), not for example through a table of pointers. A pointer
    /// to an input's end is bound with the input. Some inputs are still copied, and `last_copied` lists them with the
    /// reasons:
    /// - host memory;
    /// - memory not aligned to 256 bytes, the alignment of static inputs;
    /// - memory in an allocation used by other parameters of the graph, such as former outputs;
    /// - inputs not found in the parameters of any node, or in memcpy nodes of two or three dimensions;
    /// - inputs of memcpy nodes, if given in memory outside CUDA's memory pools: static inputs come from a pool, and
    ///   the copies of an Exec accept no other memory in exchange;
    /// - all inputs of a function that takes `Steps&`;
    /// - all inputs, if the captured function contains a node unknown to cudag, such as a conditional node of its own.
    bool bind_inputs = false;
    /// The options of the capture. A function without work needs `allow_empty`, unless all its inputs are empty.
    CaptureOptions capture = {};
    InstantiateOptions instantiate = {};
    /// Verifies every n-th replay of a shape after its capture: captures the function again, without warm-up runs and
    /// without a run, and throws FrozenValueError if it records other work than the kept graph. 0: never. See
    /// CaptureCacheOptions::verify.
    std::uint64_t verify = 0;
    /// Rounds the sizes of inputs up, so that few graphs serve many sizes: a call's inputs are copied to the beginning
    /// of larger static inputs. All graphs share one CapturePool, that of `capture.pool`, or else one of this function.
    /// Excludes `bind_inputs`.
    Bucket bucket = {};
    /// For each input, the number of elements of one item: buckets count items, and all inputs of a call have equally
    /// many. 0: the input is not rounded, and its size stays a part of the shape. Empty: one element each.
    std::vector<std::size_t> item_elements = {};
    /// The contents of the items beyond the given ones.
    Padding padding = Padding::zeros;
    /// Cuts outputs to the given items: a DeviceSpan of k elements for each item of the bucket becomes that of the
    /// given items; spans of other sizes stay whole. Tuples, pairs and arrays of spans are cut likewise, other types by
    /// their member `cut(items, bucket) const`.
    bool cut_outputs = true;
};

template <class Signature>
class GraphedFunction {
    static_assert(
        detail::no_signature<Signature>,
        "cudag: a GraphedFunction has a signature such as Output(cudaStream_t, DeviceSpan<const float>); write "
        "it where it cannot be deduced, as of a generic lambda");
};

/// Replaces calls of a stream function by replays of its graph: `forward` captures the function once for each shape.
///
///     cudag::GraphedFunction doubled([](cudaStream_t s, cudag::DeviceSpan<float> data) {
///         library_call(s, data.data(), static_cast<int>(data.size()));
///         return data;
///     });
///     const cudag::DeviceSpan<float> output = doubled.forward(stream, x);
///
/// The function enqueues its work into the given stream, reads its inputs from the given device memory, and returns its
/// outputs: a DeviceSpan, a struct of them, an owner such as a DeviceBuffer, or nothing.
/// The sizes of the inputs are their shape. At the first `forward` of a shape the function runs `warm_up_runs` times
/// and is captured, both in a private stream. Each `forward` then copies the inputs into static inputs of the shape, or
/// binds them (`bind_inputs`), and replays the graph.
/// If there are `capacity` shapes, a further one runs eagerly, once, on copies of its inputs, until it comes clearly
/// more often than the least used shape: it then takes that one's place. `needed_capacity` tells how many shapes come
/// again. The graph refers to memory and host values as of the capture: call `reset` after they change. The warm-up
/// runs are real calls on copies of the inputs: they change other memory, and do host work, like any call. An owner
/// held or returned by the function lives as long as a replay may use it.
/// A function that takes a `Steps&` instead of the stream may have breaks (Steps::eager): each `forward` launches the
/// graphs between them, and calls their functions with its stream. These are kept with the shape, as by
/// StreamCapture::eager: let them capture local variables, such as the inputs, by value. They must not use this object.
/// The inputs of such a function are always copied.
/// With a `bucket`, sizes are rounded up, inputs padded and outputs cut. All shapes share memory then: the outputs of a
/// call are valid until the next call of any shape. A function may take a `Valid` as its last parameter.
/// Replays run one after the other, in the order of the calls, in all streams. The destructor waits for none.
/// Move-only; a moved-from GraphedFunction throws GraphError. Threads: one at a time on one object, except for const
/// calls.
template <class Output, class First, class... Input>
requires detail::GraphedFirst<First>
class GraphedFunction<Output(First, Input...)> {
    static_assert(detail::are_graphed_inputs<Input...>,
                  "cudag: the inputs of a graphed function are DeviceSpans, by value, after the stream");
    static_assert(std::is_void_v<Output> || std::is_object_v<Output>,
                  "cudag: a graphed function returns its outputs by value, not by reference");

  public:
    /// Stores `function` without calling it. Uses the current device; the streams of `forward` must belong to it.
    /// Throws GraphError if `options.capacity` or `min_graphs` is 0, Error if CUDA has no streams left.
    template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, GraphedFunction>)
    explicit GraphedFunction(Callable&& function, GraphedFunctionOptions options = {},
                             SourceLocation location = SourceLocation::current())
        : cache_(detail::graphed_task<Output, First, Input...>(std::forward<Callable>(function)), options, location) {}

    /// Enqueues the function's work on `inputs` in `stream`, and returns its outputs. Asynchronous: the outputs exist
    /// once `stream` has run the work. Each of `inputs` may be any source of `memcpy_async`, or empty. It is borrowed
    /// until it has been copied in `stream`. Former outputs may be inputs, in any order.
    /// The returned reference, and the memory of the outputs, stay valid until the eviction of the shape, `reset`, or
    /// destruction; those of an eager run until the next one, which waits for no readers in other streams. The next
    /// `forward` of the shape overwrites the outputs, after the shape's last replay, but without waiting for readers in
    /// other streams.
    /// A shape captured in the place of another one evicts that; if it is in flight, the call waits for it. Exceptions
    /// of the function pass through. Throws CaptureError if the capture breaks, as StreamCapture does, if `stream` is
    /// itself being captured, if this thread is capturing another stream, or if any capture forbids the allocation for
    /// a new shape; Error if CUDA refuses. The shapes are then unchanged, and the next `forward` tries again. Throws
    /// FrozenValueError if a verified replay would use former values, CaptureError if the function cannot be captured
    /// again; the next `forward` verifies again.
    template <class... Argument>
    detail::GraphedOutput<Output> forward( // cudag: forward(stream, inputs...)
        StreamRef stream, Argument&&... inputs) {
        constexpr std::size_t count = (std::size_t{0} + ... + (std::is_same_v<Input, Valid> ? 0 : 1));
        static_assert(sizeof...(Argument) == count,
                      "cudag: forward() takes one input for each DeviceSpan of the function");
        if constexpr (sizeof...(Argument) == count) {
            if constexpr (detail::require_inputs<std::tuple<Input...>, Argument...>(
                              std::index_sequence_for<Argument...>())) {
                const std::array<detail::GraphedInput, sizeof...(Argument)> given{detail::graphed_input(inputs)...};
                [[maybe_unused]] const void* output = cache_.forward(stream.get(), given);
                if constexpr (!std::is_void_v<Output>) return *static_cast<const Output*>(output);
            }
        }
    }

    template <class... Argument>
    void operator()(Argument&&...) const = delete; // cudag: a graphed function is called by forward(stream, inputs...)

    /// Captures the graphs of the buckets of `sizes`, in items, where there are none yet: the largest first, so that
    /// the smaller ones find their memory in the pool. The warm-up runs get inputs of zeros; no graph is launched.
    /// Calls `progress`, which must not use this object, after each capture. Asynchronous, in `stream`, like `forward`.
    ///
    ///     cudag::GraphedFunction doubled(
    ///         [](cudaStream_t s, cudag::DeviceSpan<float> batch) {
    ///             library_call(s, batch.data(), static_cast<int>(batch.size()));
    ///             return batch;
    ///         },
    ///         {.capacity = 16, .bucket = cudag::Bucket::powers_of_two(1, 1024)});
    ///     doubled.prepare(stream, {1, 16, 128, 1024});
    ///     const cudag::DeviceSpan<float> output = doubled.forward(stream, x); // of any size up to 1024
    ///
    /// All or none: if a capture fails, or `progress` throws, the shapes are as before; only the pool may have grown.
    /// Throws GraphError without `bucket`, if an input has no `item_elements`, for a size of 0, a size without a
    /// bucket, and more buckets than `capacity` leaves room for; otherwise as `forward`.
    void prepare(StreamRef stream, std::span<const std::size_t> sizes,
                 const std::function<void(const PreparedBucket&)>& progress = {}) {
        cache_.prepare(stream.get(), sizes, progress);
    }
    void prepare(StreamRef stream, std::initializer_list<std::size_t> sizes,
                 const std::function<void(const PreparedBucket&)>& progress = {}) {
        cache_.prepare(stream.get(), std::span(sizes.begin(), sizes.size()), progress);
    }

    /// Forgets all shapes: the next `forward` warms up and captures again. Replays in flight finish.
    void reset() { cache_.reset(); }

    /// Returns the number of shapes kept.
    [[nodiscard]] std::size_t size() const { return cache_.size(); }
    /// Returns the number of captures of the function since the construction, without those for `verify`.
    [[nodiscard]] std::uint64_t captures() const { return cache_.captures(); }
    /// Returns the number of launches of the function's graphs since the construction.
    [[nodiscard]] std::uint64_t replays() const { return cache_.replays(); }
    /// Returns the number of eager runs for lack of room; warm-up runs do not count.
    [[nodiscard]] std::uint64_t eager_runs() const { return cache_.eager_runs(); }
    /// Returns the `capacity` with room for all recurring shapes.
    [[nodiscard]] std::size_t needed_capacity() const { return cache_.needed_capacity(); }
    /// Returns the number of inputs copied by replays and eager runs. Empty inputs do not count, nor does an input at
    /// the address of its own static input, such as a former output.
    [[nodiscard]] std::uint64_t copied_inputs() const { return cache_.copied_inputs(); }
    /// Returns the inputs not bound by the last `forward`, in order, with the reasons; without empty inputs.
    [[nodiscard]] std::vector<CopiedInput> last_copied() const { return cache_.last_copied(); }
    /// Returns the memory of all shapes, with the high-water mark of static inputs and executables. Reads the graphs.
    [[nodiscard]] CacheFootprint memory() const { return cache_.memory(); }

    /// Gives the memory of releasable pools back to the device, and unused graph memory, until `restore_memory`: see
    /// ExecCache::release_memory. With a `bucket`, static inputs are in the pool: let `capture.pool` be a releasable
    /// one. `forward` throws Error meanwhile. Without a bucket, static inputs stay.
    ReleasedMemory release_memory(ReleaseOptions options = {}) { return cache_.release_memory(options); }
    std::size_t restore_memory() { return cache_.restore_memory(); }

  private:
    detail::GraphedCache cache_;
};

/// Deduces the signature of the function, if it has exactly one: not from a generic lambda or overloads.
template <class Callable>
GraphedFunction(Callable&&, GraphedFunctionOptions = {}, SourceLocation = SourceLocation::current())
    -> GraphedFunction<detail::FunctionSignature<std::remove_cvref_t<Callable>>>;

} // namespace cudag
