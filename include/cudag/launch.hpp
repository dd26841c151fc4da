// launch(), memcpy_async(), memset_async(), clear_async(): stream work by the builder's argument rules.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/copy_3d.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/function.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

// These functions keep `effects` with the captured graph, if the stream is being captured.
CUDAG_EXPORT void launch_kernel(cudaStream_t stream, const KernelCall& call, CallEffects&& effects);
CUDAG_EXPORT void copy_async(cudaStream_t stream, const CopyParams& copy, Owners&& owners, const SourceLocation& where);
CUDAG_EXPORT void copy_pieces_async(cudaStream_t stream, const CopyParams& copy, Owners&& owners,
                                    const SourceLocation& where);
CUDAG_EXPORT void copy_3d_async(cudaStream_t stream, const Copy3D& copy, const SourceLocation& where);
CUDAG_EXPORT void set_async(cudaStream_t stream, const SetParams& set, CallEffects&& effects,
                            const SourceLocation& where);

template <class... Parameter, class... Argument>
void launch_in(cudaStream_t stream, const PassedConfig& config, void (*kernel)(Parameter...), Argument&&... arguments) {
    using Given = std::tuple<std::remove_cvref_t<Argument>...>;
    if constexpr (require_arguments(no_value<std::tuple<Parameter...>>, no_value<Given>)) {
        CallEffects effects;
        const void* symbol = kernel_symbol(kernel);
        const KernelArguments<Parameter...> values(effects, {symbol, nullptr, {}},
                                                   std::forward<Argument>(arguments)...);
        launch_kernel(stream,
                      {symbol, &signature_of(no_value<std::tuple<Parameter...>>, no_value<Given>), &config,
                       values.pointers(), values.block()},
                      std::move(effects));
    }
}

CUDAG_EXPORT void launch_function(cudaStream_t stream, const Function& function, const PassedConfig& config,
                                  const GivenArguments& arguments, CallEffects&& effects);

} // namespace detail

/// Launches `kernel` in `stream` with `arguments`, copied now by the rules of GraphBuilder::kernel. Asynchronous.
///
///     cudag::launch(stream, cudag::grid_1d(n, 256), scale, x, 2.0f, n);
///
/// Memory is borrowed: it must live until the kernel has run. A capture of the stream keeps arguments that own memory
/// in its graph; if cudag began the capture, the graph also knows the kernel's declared accesses. Throws Error if CUDA
/// refuses, or if `config` is `device_updatable` (for nodes only).
template <class... Parameter, class... Argument>
[[gnu::always_inline]] inline void
launch( // cudag: launch(stream, config, function, arguments...); of overloads or a template, say which: f<int>
    StreamRef stream, const LaunchConfig& config, void (*kernel)(Parameter...), Argument&&... arguments) {
    if (detail::is_known_plain(config))
        detail::launch_in(stream.get(), detail::shape_of(config), kernel, std::forward<Argument>(arguments)...);
    else
        detail::launch_in(stream.get(), config, kernel, std::forward<Argument>(arguments)...);
}

/// Launches a Function in `stream`, as the `launch` of a `__global__` function does. The number and sizes of the
/// arguments are checked now.
template <class... Argument>
void launch(StreamRef stream, const LaunchConfig& config, const Function& function, Argument&&... arguments) {
    detail::with_all_arguments(
        {nullptr, nullptr, {}, nullptr, &detail::Access::state(function)},
        [&](const detail::GivenArguments& given, detail::CallEffects&& effects) {
            detail::launch_function(stream.get(), function, config, given, std::move(effects));
        },
        std::forward<Argument>(arguments)...);
}
template <class... Parameter, class... Argument>
void launch(StreamRef stream, const LaunchConfig& config, const TypedFunction<Parameter...>& function,
            Argument&&... arguments) {
    using Given = std::tuple<std::remove_cvref_t<Argument>...>;
    if constexpr (detail::require_arguments(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>)) {
        detail::CallEffects effects;
        const detail::FunctionState& state = detail::Access::state(function.function());
        const detail::KernelArguments<Parameter...> values(effects, {nullptr, nullptr, {}, nullptr, &state},
                                                           std::forward<Argument>(arguments)...);
        const detail::PassedConfig passed(config);
        const detail::KernelCall call{
            nullptr,        &detail::signature_of(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>),
            &passed,        values.pointers(),
            values.block(), &state};
        detail::launch_kernel(stream.get(), call, std::move(effects));
    }
}

template <detail::NoKernel Kernel, class... Argument>
void launch(StreamRef, const LaunchConfig&, Kernel&&, Argument&&...) {
    detail::refuse_kernel<Kernel, int>();
}

template <detail::NoLaunchConfig Config, class... Argument>
void launch(StreamRef, Config&&, Argument&&...) {
    detail::refuse_config<Config, int>();
}

/// Copies all of `source` to `destination` in `stream`. Asynchronous, as far as CUDA is for these kinds of memory.
/// Accepts the operands of GraphBuilder's memcpy, memcpy2d and memcpy3d.
///
///     cudag::memcpy_async(stream, x, host);
///
/// Both are borrowed until the copy has run, or kept as in `launch` if they own memory. A captured copy from
/// pageable host memory reads it at each launch of the graph. Throws GraphError if the sizes differ or are 0, Error if
/// CUDA refuses.
template <class Destination, class Source>
void memcpy_async( // cudag: memcpy_async(stream, destination, source) copies all of two ranges of one length
    StreamRef stream, Destination&& destination, Source&& source, SourceLocation location = SourceLocation::current()) {
    if constexpr (detail::MultiDimensional<Destination> || detail::MultiDimensional<Source>) {
        if constexpr (detail::require_like_dimensions<Destination, Source>())
            detail::copy_3d_async(stream.get(), detail::copy_3d(destination, source), location);
    } else if constexpr (detail::require_operand<Destination>() && detail::require_operand<Source>()) {
        detail::Owners owners;
        const detail::CopyParams copy = detail::copy_params(destination, source, owners);
        detail::copy_async(stream.get(), copy, std::move(owners), location);
    }
}

/// Copies as `memcpy_async` does in one dimension, by two copies if a graph would run a single one slowly, as
/// `GraphBuilder::memcpy_in_pieces` does. For captures: outside of them `memcpy_async` is as quick.
///
///     cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) { cudag::memcpy_async_in_pieces(s, y, x); });
///
template <class Destination, class Source>
void memcpy_async_in_pieces( // cudag: memcpy_async_in_pieces(stream, destination, source) copies two ranges of one
                             // length
    StreamRef stream, Destination&& destination, Source&& source, SourceLocation location = SourceLocation::current()) {
    if constexpr (detail::require_operand<Destination>() && detail::require_operand<Source>()) {
        detail::Owners owners;
        const detail::CopyParams copy = detail::copy_params(destination, source, owners);
        detail::copy_pieces_async(stream.get(), copy, std::move(owners), location);
    }
}

/// Sets all elements of `destination` to `value` in `stream`. Asynchronous. Accepts the operands of GraphBuilder's
/// memset and memset2d, borrowed or kept as in `launch`. Throws GraphError if `destination` is empty, or if CUDA cannot
/// repeat the bytes of `value`.
template <class Destination, class Value>
void memset_async( // cudag: memset_async(stream, range, value) sets all elements of a range
    StreamRef stream, Destination&& destination, const Value& value,
    SourceLocation location = SourceLocation::current()) {
    if constexpr (detail::MultiDimensional<Destination>) {
        if constexpr (detail::require_2d<Destination>()) {
            detail::CallEffects effects;
            const detail::SetParams set = detail::set_2d(destination, value, effects, {nullptr, nullptr, location});
            detail::set_async(stream.get(), set, std::move(effects), location);
        }
    } else if constexpr (detail::require_operand<Destination>()) {
        detail::CallEffects effects;
        const detail::SetParams set = detail::set_params(destination, value, effects, {nullptr, nullptr, location});
        detail::set_async(stream.get(), set, std::move(effects), location);
    }
}

/// Sets all bytes of `destination` to 0 in `stream`, for elements of any type. Asynchronous. Accepts the operands of
/// GraphBuilder's clear, borrowed or kept as in `launch`. Throws GraphError if `destination` is empty.
template <class Destination>
void clear_async( // cudag: clear_async(stream, range) sets all bytes of a range to 0
    StreamRef stream, Destination&& destination, SourceLocation location = SourceLocation::current()) {
    if constexpr (detail::MultiDimensional<Destination>) {
        if constexpr (detail::require_2d<Destination>())
            detail::set_async(stream.get(), detail::clear_2d(destination), {}, location);
    } else if constexpr (detail::require_operand<Destination>()) {
        detail::CallEffects effects;
        const detail::SetParams set = detail::clear_params(destination, effects);
        detail::set_async(stream.get(), set, std::move(effects), location);
    }
}

} // namespace cudag
