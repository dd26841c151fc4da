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
    static_assert(std::invocable<Callable&>, "cudag: a host node calls a function without arguments");
    return {std::make_shared<Callable>(std::forward<F>(callable)),
            [](void* object) { static_cast<void>((*static_cast<Callable*>(object))()); }};
}

} // namespace cudag::detail
