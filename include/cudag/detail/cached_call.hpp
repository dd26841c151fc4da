// The functions that a CaptureCache runs, without their types.
#pragma once

#include <cudag/steps.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// A borrowed function without its type. `run` and `run_kept` call it and return its result, to be kept as long as the
/// work may run; null for void.
struct CachedCall {
    void* function;
    std::shared_ptr<const void> (*run)(void* function, Steps& steps);
    /// Copies or moves the function, as the caller passed it.
    std::shared_ptr<void> (*keep)(void* function);
    std::shared_ptr<const void> (*run_kept)(void* kept, Steps& steps);
    std::size_t bytes; ///< size of the function object
};

/// Calls `function` and returns its result; null for void.
template <class Callable>
std::shared_ptr<const void> run_cached(Callable& function, Steps& steps) {
    using Result = decltype(call_with_steps(function, steps));
    if constexpr (std::is_void_v<Result>) {
        call_with_steps(function, steps);
        return nullptr;
    } else {
        return std::make_shared<Result>(call_with_steps(function, steps));
    }
}

/// Erases the type of `function`. Callable is deduced by the caller's forwarding reference: it decides between copy and
/// move.
template <class Callable>
CachedCall cached_call(std::remove_reference_t<Callable>& function) {
    using Given = std::remove_reference_t<Callable>;
    using Kept = std::remove_cv_t<Given>;
    return {const_cast<Kept*>(std::addressof(function)),
            [](void* f, Steps& steps) { return run_cached(*static_cast<Given*>(f), steps); },
            [](void* f) -> std::shared_ptr<void> {
                return std::make_shared<Kept>(static_cast<Callable&&>(*static_cast<Given*>(f)));
            },
            [](void* f, Steps& steps) { return run_cached(*static_cast<Kept*>(f), steps); }, sizeof(Kept)};
}

/// Fails to compile if a CaptureCache cannot keep the function, or its result.
template <class Callable>
constexpr bool require_cached_function() {
    using Given = std::remove_reference_t<Callable>;
    using Kept = std::remove_cv_t<Given>;
    constexpr bool can_be_kept = std::constructible_from<Kept, Callable&&> && StepsFunction<Kept>;
    static_assert(can_be_kept, "cudag: run() keeps the function with its graph: it must be copyable, or given by "
                               "std::move(function) or std::ref(function)");
    using Result = decltype(call_with_steps(std::declval<Given&>(), std::declval<Steps&>()));
    static_assert(!std::is_reference_v<Result>,
                  "cudag: run() keeps what the function returns, which must be a value, not a reference");
    static_assert(!std::is_same_v<Result, cudaError_t>,
                  "cudag: run() would drop the cudaError_t that the function returns: give it to cudag::check there");
    return can_be_kept && !std::is_reference_v<Result> && !std::is_same_v<Result, cudaError_t>;
}

} // namespace cudag::detail
