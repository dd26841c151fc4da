// The functions of breaks, without their types.
#pragma once

#include <cuda_runtime_api.h>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// An owned function: `call(function.get(), stream)` calls it with the stream, or without.
struct EagerTask {
    std::shared_ptr<void> function;
    void (*call)(void* function, cudaStream_t stream);
};

template <class Function>
concept EagerFunction = std::invocable<Function&, cudaStream_t> || std::invocable<Function&>;

template <EagerFunction Function>
decltype(auto) call_eager(Function& function, cudaStream_t stream) {
    if constexpr (std::invocable<Function&, cudaStream_t>)
        return std::invoke(function, stream);
    else
        return std::invoke(function);
}

/// Fails to compile if a break cannot call the function, or would drop its result.
template <class Callable>
constexpr bool require_eager_function() {
    using Function = std::decay_t<Callable>;
    static_assert(EagerFunction<Function>, "cudag: the function of eager() is called with the stream, or with nothing");
    if constexpr (EagerFunction<Function>) {
        constexpr bool is_void =
            std::is_void_v<decltype(call_eager(std::declval<Function&>(), std::declval<cudaStream_t>()))>;
        static_assert(is_void, "cudag: eager() would drop what its function returns: use it inside the function, and "
                               "give a cudaError_t to cudag::check there");
        return is_void;
    } else {
        return false;
    }
}

/// Erases the type of `function`, copied or moved.
template <class Callable>
EagerTask eager_task(Callable&& function) {
    using Function = std::decay_t<Callable>;
    static_assert(std::constructible_from<Function, Callable&&>,
                  "cudag: a break keeps its function: it must be copyable, or given by std::move(function) or "
                  "std::ref(function)");
    return {std::make_shared<Function>(std::forward<Callable>(function)),
            [](void* f, cudaStream_t stream) { call_eager(*static_cast<Function*>(f), stream); }};
}

} // namespace cudag::detail
