// A kernel call with its types erased: symbol, signature and argument values.
#pragma once

#include <cudag/detail/launch_shape.hpp>
#include <cudag/detail/type_name.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/span.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef CUDART_CPU
#include <cudart_cpu/kernel.hpp>
#endif

namespace cudag {
class Condition;
}

namespace cudag::detail {

/// What a parameter is, as far as checks and reports need it. CUDA itself does not tell: `object` where it is unknown.
/// A span starts with its address.
/// A condition starts with its handle.
enum class ParameterType : std::uint8_t {
    object,
    pointer,
    span,
    signed_integer,
    unsigned_integer,
    floating_point,
    condition
};

/// In a signature: a parameter of CUDA's handle type that was given a Condition. The types of kernels tell no handle
/// from a number.
enum class ConditionHandle : cudaGraphConditionalHandle {};

template <class Argument, class Parameter>
concept ConditionBecomes = std::is_same_v<Argument, Condition> && std::is_same_v<Parameter, cudaGraphConditionalHandle>;
template <class Argument, class Parameter>
using InSignature = std::conditional_t<ConditionBecomes<Argument, Parameter>, ConditionHandle, Parameter>;

template <class Parameter>
constexpr ParameterType parameter_type() noexcept {
    if constexpr (std::is_same_v<Parameter, Condition> || std::is_same_v<Parameter, ConditionHandle>)
        return ParameterType::condition;
    else if constexpr (std::is_pointer_v<Parameter>)
        return ParameterType::pointer;
    else if constexpr (is_span_parameter<Parameter>)
        return ParameterType::span;
    else if constexpr (std::is_floating_point_v<Parameter>)
        return ParameterType::floating_point;
    else if constexpr (std::is_integral_v<Parameter>)
        return std::is_signed_v<Parameter> ? ParameterType::signed_integer : ParameterType::unsigned_integer;
    else
        return ParameterType::object;
}

/// Where one parameter lies in a block of copied argument values.
struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
    ParameterType type = ParameterType::object;
    const TypeTag* cpp_type = nullptr; ///< null where it is unknown: CUDA does not tell

    /// Whether both types are known, and equal. Kernels of different shared objects may have them.
    [[nodiscard]] bool has_type_of(const Parameter& other) const noexcept {
        return cpp_type != nullptr && other.cpp_type != nullptr && *cpp_type == *other.cpp_type;
    }
};

/// The parameters of a kernel; `bytes` is the size of a block that holds them all.
struct KernelSignature {
    const Parameter* parameters;
    std::uint32_t count;
    std::uint32_t bytes;
};

template <std::size_t Count>
struct SignatureLayout {
    std::array<Parameter, Count == 0 ? 1 : Count> parameters{}; // never of size 0
    std::uint32_t bytes = 0;
};

/// The type that the kernel has for a parameter of a signature.
template <class Parameter>
using KernelType =
    std::conditional_t<std::is_same_v<Parameter, ConditionHandle>, cudaGraphConditionalHandle, Parameter>;

template <class... Parameter>
constexpr SignatureLayout<sizeof...(Parameter)> lay_out() noexcept {
    SignatureLayout<sizeof...(Parameter)> result;
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto place = [&](std::size_t size, std::size_t align, ParameterType type,
                                            const TypeTag& cpp_type) {
        const std::size_t offset = (result.bytes + align - 1) / align * align;
        result.parameters[i++] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size), type,
                                  &cpp_type};
        result.bytes = static_cast<std::uint32_t>(offset + size);
    };
    (place(sizeof(Parameter), alignof(Parameter), parameter_type<Parameter>(), TypeOf<KernelType<Parameter>>::tag),
     ...);
    return result;
}

template <class... Parameter>
struct SignatureOf {
    static_assert((std::is_trivially_copyable_v<Parameter> && ...),
                  "cudag: kernel parameters must be trivially copyable");

    static constexpr std::uint32_t count = sizeof...(Parameter);
    static constexpr SignatureLayout<sizeof...(Parameter)> layout = lay_out<Parameter...>();
    static constexpr KernelSignature value{layout.parameters.data(), count, layout.bytes};
};

struct FunctionState;

/// `values[i]` points at the value of parameter i. An update may leave parameters as they are: their pointers are null.
struct KernelCall {
    const void* symbol; ///< what the runtime's functions take for the kernel; null if they take nothing
    const KernelSignature* signature;
    const PassedConfig* config; ///< null in an update: leaves the configuration as it is
    void* const* values;
    const std::byte* block; ///< all values, as `signature` lays them out; null if some are left, or stand elsewhere
    const FunctionState* function = nullptr; ///< of a Function
};

template <class Kernel>
inline constexpr bool is_kernel = false;
template <class... Parameter>
inline constexpr bool is_kernel<void (*)(Parameter...)> = true;
template <class... Parameter>
inline constexpr bool is_kernel<void (*)(Parameter...) noexcept> = true;

/// Anything that is no kernel, to be refused with a sentence instead of a list of overloads.
template <class Kernel>
concept NoKernel = !is_kernel<std::decay_t<Kernel>>;

/// Returns Result{}, so that nothing else is wrong with the call.
template <class Kernel, class Result>
constexpr Result refuse_kernel() {
    static_assert(!NoKernel<Kernel>, "cudag: a kernel is a __global__ function or a pointer to one");
    return {};
}

/// What is written by mistake where a launch configuration belongs.
template <class Config>
concept NoLaunchConfig = !std::is_convertible_v<Config, LaunchConfig>;

template <class Config, class Result>
constexpr Result refuse_config() {
    using Given = std::decay_t<Config>;
    constexpr bool is_size = std::is_arithmetic_v<Given> || std::is_same_v<Given, dim3>;
    constexpr bool is_text = std::is_convertible_v<Given, const char*>;
    constexpr bool is_other = !is_size && !is_text && NoKernel<Config>;
    static_assert(NoKernel<Config>,
                  "cudag: the launch configuration comes first, as {.grid = 8, .block = 256} or grid_1d(n, "
                  "256), then the kernel and its arguments");
    static_assert(!is_size, "cudag: grid and block are one argument: {.grid = 4, .block = 256}, or grid_1d(n, 256)");
    static_assert(!is_text, "cudag: a label is given by .label(text) of the node; the first argument is the launch "
                            "configuration, as {.grid = 8, .block = 256}");
    static_assert(!is_other,
                  "cudag: the launch configuration comes first, as {.grid = 8, .block = 256}; nodes need no stream, "
                  ".after() orders them");
    return {};
}

/// The symbol that the CUDA runtime knows `kernel` by. The CPU runtime learns here how to call it.
template <class... Parameter>
[[nodiscard]] const void* kernel_symbol(void (*kernel)(Parameter...)) {
#ifdef CUDART_CPU
    cudart_cpu::register_kernel(kernel);
#endif
    return reinterpret_cast<const void*>(kernel);
}

} // namespace cudag::detail
