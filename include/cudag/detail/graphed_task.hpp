// A GraphedFunction without its types.
#pragma once

#include <cudag/bucket.hpp>
#include <cudag/config.hpp>
#include <cudag/copied_input.hpp>
#include <cudag/detail/cut_output.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/footprint.hpp>
#include <cudag/source_location.hpp>
#include <cudag/steps.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {
struct GraphedFunctionOptions;
} // namespace cudag

namespace cudag::detail {

template <class>
inline constexpr bool no_signature = false;
struct NoSignature;

/// The signature `Result(Argument...)` of a function or of an object with one call operator; NoSignature for other
/// types.
template <class Callable>
struct SignatureOfFunction {
    using type = NoSignature;
};
template <class Callable>
requires requires { &Callable::operator(); }
struct SignatureOfFunction<Callable> : SignatureOfFunction<decltype(&Callable::operator())> {};
template <class Result, class... Argument>
struct SignatureOfFunction<Result(Argument...)> {
    using type = Result(Argument...);
};
template <class Result, class... Argument>
struct SignatureOfFunction<Result(Argument...) noexcept> {
    using type = Result(Argument...);
};
template <class Result, class... Argument>
struct SignatureOfFunction<Result (*)(Argument...)> {
    using type = Result(Argument...);
};
template <class Result, class... Argument>
struct SignatureOfFunction<Result (*)(Argument...) noexcept> {
    using type = Result(Argument...);
};
template <class Result, class Class, class... Argument>
struct SignatureOfFunction<Result (Class::*)(Argument...)> {
    using type = Result(Argument...);
};
template <class Result, class Class, class... Argument>
struct SignatureOfFunction<Result (Class::*)(Argument...) noexcept> {
    using type = Result(Argument...);
};
template <class Result, class Class, class... Argument>
struct SignatureOfFunction<Result (Class::*)(Argument...) const> {
    using type = Result(Argument...);
};
template <class Result, class Class, class... Argument>
struct SignatureOfFunction<Result (Class::*)(Argument...) const noexcept> {
    using type = Result(Argument...);
};
template <class Callable>
using FunctionSignature = typename SignatureOfFunction<Callable>::type;

/// The result of `forward`: a reference to the constant output, or void.
template <class Output>
using GraphedOutput =
    std::conditional_t<std::is_void_v<Output>, void, std::add_lvalue_reference_t<std::add_const_t<Output>>>;

/// An input of one shape, in device memory owned by the shape.
struct StaticInput {
    void* data;
    std::size_t size; ///< in elements
};

/// DeviceSpans, and perhaps a Valid as the last one.
template <class... Input>
inline constexpr bool are_graphed_inputs = true;
template <class First, class... Input>
inline constexpr bool are_graphed_inputs<First, Input...> =
    (is_device_span<First> || (std::is_same_v<First, Valid> && sizeof...(Input) == 0)) && are_graphed_inputs<Input...>;

/// The first parameter of a graphed function.
template <class First>
concept GraphedFirst = std::same_as<First, cudaStream_t> || std::same_as<First, Steps&>;

template <GraphedFirst First>
First graphed_first(Steps& steps) noexcept {
    if constexpr (std::same_as<First, Steps&>)
        return steps;
    else
        return steps.stream();
}

/// The function without its type: `run(callable.get(), steps, inputs)` calls it and returns its output; null for void.
struct GraphedTask {
    std::shared_ptr<void> callable;
    std::shared_ptr<const void> (*run)(void* callable, Steps& steps, const StaticInput* inputs);
    std::span<const bool> is_const;             ///< true for each input that the function can only read
    std::span<const std::size_t> element_bytes; ///< of each input
    bool takes_steps;                           ///< and may have breaks
    bool takes_valid;                           ///< as its last input
    bool has_output;
    /// Returns the part of `output` that belongs to `items` of `bucket` items; null if the output cannot be cut.
    std::shared_ptr<const void> (*cut)(const void* output, std::size_t items, std::size_t bucket);

    /// The number of inputs that calls give.
    [[nodiscard]] std::size_t given_count() const noexcept { return is_const.size() - (takes_valid ? 1 : 0); }
};

/// Calls `function` with spans of the inputs and returns its output; null for void.
template <class Output, class First, class... Input, class Callable, std::size_t... Index>
std::shared_ptr<const void> run_graphed(Callable& function, Steps& steps, [[maybe_unused]] const StaticInput* inputs,
                                        std::index_sequence<Index...>) {
    const auto call = [&]() -> Output {
        return static_cast<Output>(
            std::invoke(function, graphed_first<First>(steps),
                        Input(static_cast<typename Input::element_type*>(inputs[Index].data), inputs[Index].size)...));
    };
    if constexpr (std::is_void_v<Output>) {
        call();
        return nullptr;
    } else {
        return std::make_shared<Output>(call());
    }
}

/// Returns the function that cuts an Output; null if there is none.
template <class Output>
constexpr auto cut_of() noexcept -> std::shared_ptr<const void> (*)(const void*, std::size_t, std::size_t) {
    if constexpr (is_cuttable<Output>)
        return [](const void* output, std::size_t items, std::size_t bucket) -> std::shared_ptr<const void> {
            return std::make_shared<Output>(cut_output(*static_cast<const Output*>(output), items, bucket));
        };
    else
        return nullptr;
}

/// Erases the type of `function`. Fails to compile if the function does not have the signature.
template <class Output, class First, class... Input, class Callable>
GraphedTask graphed_task(Callable&& function) {
    using Function = std::decay_t<Callable>;
    static_assert(
        std::is_invocable_r_v<Output, Function&, First, Input...>,
        "cudag: the function cannot be called with a cudaStream_t or Steps& and the DeviceSpans of the signature, or "
        "returns something other than its output");
    static constexpr std::array<bool, sizeof...(Input)> is_const{std::is_const_v<typename Input::element_type>...};
    static constexpr std::array<std::size_t, sizeof...(Input)> element_bytes{sizeof(typename Input::element_type)...};
    return {std::make_shared<Function>(std::forward<Callable>(function)),
            [](void* callable, Steps& steps, const StaticInput* inputs) {
                return run_graphed<Output, First, Input...>(*static_cast<Function*>(callable), steps, inputs,
                                                            std::index_sequence_for<Input...>());
            },
            is_const,
            element_bytes,
            std::same_as<First, Steps&>,
            (std::same_as<Input, Valid> || ...),
            !std::is_void_v<Output>,
            cut_of<Output>()};
}

/// A range passed to `forward`.
struct GraphedInput {
    const void* data;
    std::size_t size; ///< in elements
    std::size_t element_bytes;
    Side side;
};

/// Returns `range` without its type. Throws GraphError for a null shared_ptr.
template <class Given>
GraphedInput graphed_input(Given& range) {
    using Range = std::remove_cv_t<Given>;
    if constexpr (is_shared_ptr<Range>) {
        if (!range) refuse_null_operand();
        return graphed_input(*range);
    } else if constexpr (is_device_span<Range> || is_device_buffer<Range>) {
        return {range.data(), range.size(), sizeof(typename Range::element_type), Side::device};
    } else {
        return {std::data(range), std::size(range), sizeof(*std::data(range)), Side::host};
    }
}

/// Fails to compile if Argument, as deduced by `forward`, is no input for the parameter Input.
template <class Input, class Argument>
constexpr bool require_input() {
    if constexpr (require_operand<Argument>()) {
        using Element = typename Input::value_type;
        using Other =
            typename decltype(to_operand(std::declval<Argument&>(), 0, std::declval<Owners&>()))::element_type;
        static_assert(std::is_same_v<Element, std::remove_cv_t<Other>>,
                      "cudag: an input of forward() needs the element type of the function's DeviceSpan");
        static_assert(std::is_trivially_copyable_v<Element>,
                      "cudag: the inputs of forward() need trivially copyable elements");
        return std::is_same_v<Element, std::remove_cv_t<Other>> && std::is_trivially_copyable_v<Element>;
    } else {
        return false;
    }
}

struct CacheContent;

/// Fails to compile if one of Argument is no input for its parameter among Inputs, a tuple.
template <class Inputs, class... Argument, std::size_t... Index>
constexpr bool require_inputs(std::index_sequence<Index...>) {
    return (require_input<std::tuple_element_t<Index, Inputs>, Argument>() && ...);
}

/// The captured shapes of a GraphedFunction, the most recently used first.
class CUDAG_EXPORT GraphedCache {
  public:
    GraphedCache(GraphedTask&& task, const GraphedFunctionOptions& options, const SourceLocation& location);
    GraphedCache(GraphedCache&&) noexcept;
    GraphedCache& operator=(GraphedCache&&) noexcept;
    ~GraphedCache();

    /// Replays the shape of `inputs` in `stream` and returns its output.
    const void* forward(cudaStream_t stream, std::span<const GraphedInput> inputs);
    /// Captures the shapes of `sizes`, rounded up: see GraphedFunction::prepare.
    void prepare(cudaStream_t stream, std::span<const std::size_t> sizes,
                 const std::function<void(const PreparedBucket&)>& progress);
    void reset();

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::uint64_t captures() const;
    [[nodiscard]] std::uint64_t replays() const;
    [[nodiscard]] std::uint64_t copied_inputs() const;
    [[nodiscard]] std::uint64_t eager_runs() const;
    [[nodiscard]] std::size_t needed_capacity() const;
    [[nodiscard]] std::vector<CopiedInput> last_copied() const;
    [[nodiscard]] CacheFootprint memory() const;
    ReleasedMemory release_memory(const ReleaseOptions& options);
    std::size_t restore_memory();

  private:
    class State;
    [[nodiscard]] CacheContent content() const;
    [[nodiscard]] State& state() const;

    std::unique_ptr<State> state_;
};

} // namespace cudag::detail
