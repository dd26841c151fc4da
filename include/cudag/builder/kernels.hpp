// Kernel nodes: the calls of GraphBuilder and StreamCapture that add launches of kernels.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/launch_shape.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/function.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// Adds a launch of `function`, with arguments that fit its parameters.
template <class... Parameter, class... Argument>
Node add_typed_kernel(GraphState& graph, const LaunchConfig& config, const SourceLocation& location,
                      const Function& function, Argument&&... arguments) {
    using Given = std::tuple<std::remove_cvref_t<Argument>...>;
    CallEffects effects;
    const FunctionState& state = Access::state(function);
    const KernelArguments<Parameter...> values(effects, {nullptr, nullptr, location, &graph, &state},
                                               std::forward<Argument>(arguments)...);
    const PassedConfig passed(config);
    const KernelCall call{nullptr,        &signature_of(no_value<std::tuple<Parameter...>>, no_value<Given>),
                          &passed,        values.pointers(),
                          values.block(), &state};
    return add_kernel(graph, call, std::move(effects), location);
}

/// The calls that add kernel nodes, of GraphBuilder and of StreamCapture. A StreamCapture adds them in place, and
/// throws CaptureError, as StreamCapture::add does.
///
///     auto first = b.kernel({.grid = 8, .block = 256}, fill, x, 1.0f, n);
///     b.kernel(cudag::grid_1d(n, 256), scale, x, 2.0f, n).after(first);
template <class Self>
class KernelCalls {
  public:
    /// Adds a launch of `function`, a `__global__` function. The `arguments` are copied now. The compiler checks their
    /// types: pointers convert as in C++, buffers and spans become pointers, and a floating-point number must not be
    /// wider than its parameter. Throws GraphError if an integer does not fit its parameter exactly, or if CUDA refuses
    /// the launch (grid, block, shared memory, unknown kernel).
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...>
    kernel( // cudag: kernel(config, function, arguments...); of overloads or a template, say which: f<int>
        Located<LaunchConfig> config, void (*function)(Parameter...), Argument&&... arguments) {
        return add_known(config.value, config.location, function, std::forward<Argument>(arguments)...);
    }

    template <class... Parameter, class... Argument>
    [[gnu::always_inline]] KernelNode<Parameter...> kernel(const BracedConfig& config, void (*function)(Parameter...),
                                                           Argument&&... arguments) {
        const SourceLocation location = config.location;
        if (is_known_plain(config))
            return add_known(shape_of(config), location, function, std::forward<Argument>(arguments)...);
        const LaunchConfig attributed = config;
        return add_known(attributed, location, function, std::forward<Argument>(arguments)...);
    }

    /// Adds a launch of a Function, a kernel known only at run time. The number and sizes of the arguments are checked
    /// now; PackedArguments replace the whole list. Throws GraphError if they do not fit or CUDA refuses the launch.
    template <class... Argument>
    FunctionNode kernel(Located<LaunchConfig> config, const Function& function, Argument&&... arguments) {
        return add_untyped(config.value, config.location, function, std::forward<Argument>(arguments)...);
    }
    template <class... Argument>
    FunctionNode kernel(const BracedConfig& config, const Function& function, Argument&&... arguments) {
        return add_untyped(LaunchConfig(config), config.location, function, std::forward<Argument>(arguments)...);
    }

    /// Adds a launch of a TypedFunction, a Function with known parameter types: arguments are checked by the compiler.
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> kernel(Located<LaunchConfig> config, const TypedFunction<Parameter...>& function,
                                    Argument&&... arguments) {
        return add_typed<Parameter...>(config.value, config.location, function.function(),
                                       std::forward<Argument>(arguments)...);
    }
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> kernel(const BracedConfig& config, const TypedFunction<Parameter...>& function,
                                    Argument&&... arguments) {
        return add_typed<Parameter...>(LaunchConfig(config), config.location, function.function(),
                                       std::forward<Argument>(arguments)...);
    }

    template <NoKernel Kernel, class... Argument>
    auto kernel(Located<LaunchConfig>, Kernel&&, Argument&&...) {
        return refuse_kernel<Kernel, KernelNode<>>();
    }

    template <NoKernel Kernel, class... Argument>
    auto kernel(const BracedConfig&, Kernel&&, Argument&&...) {
        return refuse_kernel<Kernel, KernelNode<>>();
    }

    template <NoLaunchConfig Config, class... Argument>
    auto kernel(Config&&, Argument&&...) {
        return refuse_config<Config, KernelNode<>>();
    }

  private:
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> add_known(const PassedConfig& config, const SourceLocation& location,
                                       void (*function)(Parameter...), Argument&&... arguments) {
        using Given = std::tuple<std::remove_cvref_t<Argument>...>;
        if constexpr (require_arguments(no_value<std::tuple<Parameter...>>, no_value<Given>))
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        CallEffects effects;
                        const void* symbol = kernel_symbol(function);
                        const KernelArguments<Parameter...> values(effects, {symbol, nullptr, location, &graph},
                                                                   std::forward<Argument>(arguments)...);
                        const KernelCall call{symbol,
                                              &signature_of(no_value<std::tuple<Parameter...>>, no_value<Given>),
                                              &config, values.pointers(), values.block()};
                        return add_kernel(graph, call, std::move(effects), location);
                    })};
        return {};
    }

    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> add_typed(const LaunchConfig& config, const SourceLocation& location,
                                       const Function& function, Argument&&... arguments) {
        using Given = std::tuple<std::remove_cvref_t<Argument>...>;
        if constexpr (require_arguments(no_value<std::tuple<Parameter...>>, no_value<Given>))
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_typed_kernel<Parameter...>(graph, config, location, function,
                                                              std::forward<Argument>(arguments)...);
                    })};
        return {};
    }

    template <class... Argument>
    FunctionNode add_untyped(const LaunchConfig& config, const SourceLocation& location, const Function& function,
                             Argument&&... arguments) {
        return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                    return with_all_arguments(
                        {nullptr, nullptr, location, &graph, &Access::state(function)},
                        [&](const GivenArguments& given, CallEffects&& effects) {
                            return add_function(graph, function, config, given, std::move(effects), location);
                        },
                        std::forward<Argument>(arguments)...);
                })};
    }

    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
