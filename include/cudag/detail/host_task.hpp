// A callable of any type, owned, as a host node calls it.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// `run(callable.get())` calls it.
struct HostTask {
    std::shared_ptr<void> callable;
    void (*run)(void*);
};

template <class F>
HostTask host_task(F&& callable) {
    using Callable = std::decay_t<F>;
    constexpr bool callable_now = std::invocable<Callable&>;
    constexpr bool kept = std::constructible_from<Callable, F>;
    static_assert(callable_now, "cudag: a host node calls a function without arguments: host([=] { f(x); })");
    static_assert(kept, "cudag: a host node keeps its function, and this one cannot be copied: std::move it");
    if constexpr (!callable_now || !kept)
        return {};
    else
        return {std::make_shared<Callable>(std::forward<F>(callable)),
                [](void* object) { static_cast<void>((*static_cast<Callable*>(object))()); }};
}

} // namespace cudag::detail
