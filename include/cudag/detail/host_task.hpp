// HostTask: the function of a host node, without its type.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// A callable of any type, owned. `run(callable.get())` calls it.
struct HostTask {
    std::shared_ptr<void> callable;
    void (*run)(void*);
};

/// Copies or moves `callable` into a HostTask. Fails to compile if a host node cannot keep or call it.
template <class Function>
HostTask host_task(Function&& callable) {
    using Callable = std::decay_t<Function>;
    constexpr bool callable_now = std::invocable<Callable&>;
    constexpr bool kept = std::constructible_from<Callable, Function>;
    static_assert(callable_now, "cudag: a host node calls a function without arguments: host([=] { f(x); })");
    static_assert(kept, "cudag: a host node keeps its function, and this one cannot be copied: std::move it");
    if constexpr (!callable_now || !kept)
        return {};
    else
        return {std::make_shared<Callable>(std::forward<Function>(callable)),
                [](void* object) { static_cast<void>((*static_cast<Callable*>(object))()); }};
}

} // namespace cudag::detail
