// What a function that a CaptureCache runs is without its type.
#pragma once

#include <cudag/steps.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// A function, borrowed. Both calls return what is to be kept as long as the work may run; null for nothing.
struct CachedCall {
    void* function;
    std::shared_ptr<const void> (*run)(void* function, Steps& steps);
    /// Copies or moves it, as the caller has given it.
    std::shared_ptr<void> (*keep)(void* function);
    std::shared_ptr<const void> (*run_kept)(void* kept, Steps& steps);
};

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

/// `function` is as the caller has given it: Callable is that of a forwarding reference.
template <class Callable>
CachedCall cached_call(std::remove_reference_t<Callable>& function) {
    using Given = std::remove_reference_t<Callable>;
    using Kept = std::remove_cv_t<Given>;
    return {const_cast<Kept*>(std::addressof(function)),
            [](void* f, Steps& steps) { return run_cached(*static_cast<Given*>(f), steps); },
            [](void* f) -> std::shared_ptr<void> {
                return std::make_shared<Kept>(static_cast<Callable&&>(*static_cast<Given*>(f)));
            },
            [](void* f, Steps& steps) { return run_cached(*static_cast<Kept*>(f), steps); }};
}

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
