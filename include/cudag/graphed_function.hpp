// GraphedFunction: a function of a stream that is captured once for each shape of its inputs, and replayed from then
// on.
#pragma once

#include <cudag/config.hpp>
#include <cudag/copied_input.hpp>
#include <cudag/detail/graphed_task.hpp>
#include <cudag/exec.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

struct GraphedFunctionOptions {
    /// How often the function runs for real before it is captured, so that libraries load, tune and allocate then.
    unsigned warm_up_runs = 1;
    std::size_t capacity = 1; ///< how many shapes are kept; at least 1
    /// Replays read inputs that the function takes as `DeviceSpan<const Element>` where they are, not copying them.
    /// Such an input is borrowed until the replay has run, and the function must neither return it nor find it by other
    /// ways than its nodes' parameters (see BufferParam), such as a table of pointers. What cannot be bound is copied:
    /// host memory; memory that begins at no multiple of 256 bytes, as static inputs do; an allocation that other
    /// parameters of the graph point into, as former outputs are; what is copied in two or three dimensions, or copied
    /// at all and not of a memory pool, of which CUDA makes static inputs here (an Exec's copies take no other memory);
    /// all inputs if the function captures a node that cudag does not know, such as a conditional of its own. A pointer
    /// to an input's end is bound with the input. `last_copied` tells which inputs are copied, and why.
    bool bind_inputs = false;
    /// A function that enqueues nothing needs `allow_empty`, but where all its inputs are empty.
    CaptureOptions capture = {};
    InstantiateOptions instantiate = {};
};

template <class Signature>
class GraphedFunction {
    static_assert(
        detail::no_signature<Signature>,
        "cudag: a GraphedFunction has a signature such as Output(cudaStream_t, DeviceSpan<const float>); write "
        "it where it cannot be deduced, as of a generic lambda");
};

/// A function that enqueues work in the stream it is given, reads its inputs from the device memory it is given, and
/// returns where its outputs are: a DeviceSpan, a struct of them, an owner such as a DeviceBuffer, or nothing.
/// `forward` replaces calls of it. The sizes of the inputs are their shape. At the first `forward` of a shape the
/// function runs `warm_up_runs` times and is captured, both in a private stream; each `forward` then copies the inputs
/// into static ones, which belong to the shape, or binds them (`bind_inputs`), and replays.
/// The graph refers to memory and host values as they were at the capture: call `reset` when they have changed. What
/// the function does to other memory than its inputs, the warm-up runs do as well. An owner that the function holds or
/// returns lives as long as a replay may use it.
/// Replays run one after the other, in the order of the calls, in whichever streams. Destroying it waits for none.
/// Move-only; a moved-from GraphedFunction throws GraphError. Threads: one at a time on one object, but for const
/// calls.
template <class Output, class... Input>
class GraphedFunction<Output(cudaStream_t, Input...)> {
    static_assert((detail::is_device_span<Input> && ...),
                  "cudag: the inputs of a graphed function are DeviceSpans, by value, after the stream");
    static_assert(std::is_void_v<Output> || std::is_object_v<Output>,
                  "cudag: a graphed function returns its outputs by value, not by reference");

  public:
    /// Takes over `function`; calls nothing yet. Uses the current device, as the streams of `forward` must.
    /// Throws Error if `options.capacity` is 0 or CUDA has no streams left.
    template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, GraphedFunction>)
    explicit GraphedFunction(Callable&& function, GraphedFunctionOptions options = {},
                             SourceLocation location = SourceLocation::current())
        : cache_(detail::graphed_task<Output, Input...>(std::forward<Callable>(function)), options, location) {}

    /// The outputs of the function for `inputs`, which are what `memcpy_async` copies from, are borrowed until they
    /// have been copied in `stream`, and may be empty; former outputs may be inputs, in any order. Asynchronous: the
    /// outputs are there once `stream` has run it. The reference, and what the outputs refer to, are good until this
    /// shape is evicted, `reset`, or destruction; the next `forward` of the shape overwrites them, after its last
    /// replay, not after what reads them in another stream. A new shape is not made while this thread captures another
    /// stream, unless that allows allocation. It evicts the least recently used one if there are `capacity` others;
    /// while that one is still in flight, the call waits for it. What the function throws passes through. Throws
    /// CaptureError if something breaks the capture, as StreamCapture does, or if `stream` is being captured itself;
    /// Error if CUDA refuses. Then the shapes are those of before, and the next `forward` tries again.
    template <class... Argument>
    detail::GraphedOutput<Output> forward( // cudag: forward(stream, inputs...)
        StreamRef stream, Argument&&... inputs) {
        static_assert(sizeof...(Argument) == sizeof...(Input),
                      "cudag: forward() takes one input for each DeviceSpan of the function");
        if constexpr (sizeof...(Argument) == sizeof...(Input)) {
            if constexpr ((detail::require_input<Input, Argument>() && ...)) {
                const std::array<detail::GraphedInput, sizeof...(Argument)> given{detail::graphed_input(inputs)...};
                [[maybe_unused]] const void* output = cache_.forward(stream.get(), given);
                if constexpr (!std::is_void_v<Output>) return *static_cast<const Output*>(output);
            }
        }
    }

    template <class... Argument>
    void operator()(Argument&&...) const = delete; // cudag: a graphed function is called by forward(stream, inputs...)

    /// Forgets all shapes, so that the next `forward` warms up and captures again. Replays in flight finish.
    void reset() { cache_.reset(); }

    /// How many shapes are kept.
    [[nodiscard]] std::size_t size() const { return cache_.size(); }
    /// How often the function was captured, and its graphs were launched, since the construction.
    [[nodiscard]] std::uint64_t captures() const { return cache_.captures(); }
    [[nodiscard]] std::uint64_t replays() const { return cache_.replays(); }
    /// How many inputs replays have copied, of those that are not empty and not their static input already.
    [[nodiscard]] std::uint64_t copied_inputs() const { return cache_.copied_inputs(); }
    /// The inputs, in order, that the last `forward` did not bind, and why; without those that are empty.
    [[nodiscard]] std::vector<CopiedInput> last_copied() const { return cache_.last_copied(); }

  private:
    detail::GraphedCache cache_;
};

/// The signature is that of the function, if it has one: no generic lambda, no overloads.
template <class Callable>
GraphedFunction(Callable&&, GraphedFunctionOptions = {}, SourceLocation = SourceLocation::current())
    -> GraphedFunction<detail::FunctionSignature<std::remove_cvref_t<Callable>>>;

} // namespace cudag
