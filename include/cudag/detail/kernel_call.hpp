// A kernel call without its types: symbol, signature and argument values.
#pragma once

#include <cudag/detail/launch_shape.hpp>
#include <cudag/detail/runtime.hpp>
#include <cudag/detail/type_name.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/span.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cudag {
class Condition;
}

namespace cudag::detail {

/// The kind of a parameter, for checks and reports. CUDA does not report it: `object` also stands for unknown kinds. A
/// span starts with its address, a condition with its handle.
enum class ParameterType : std::uint8_t {
    object,
    pointer,
    span,
    signed_integer,
    unsigned_integer,
    floating_point,
    condition
};

/// In a signature: a parameter of CUDA's handle type with a Condition as its argument. In the types of kernels, handles
/// and numbers are alike.
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

/// The place and type of one parameter in a block of copied argument values.
struct Parameter {
    std::uint32_t offset;
    std::uint32_t size;
    ParameterType type = ParameterType::object;
    const TypeTag* cpp_type = nullptr; ///< null if unknown: CUDA does not report it

    /// True if both types are known and equal. The parameters may belong to kernels of different shared objects.
    [[nodiscard]] bool has_type_of(const Parameter& other) const noexcept {
        return cpp_type != nullptr && other.cpp_type != nullptr && *cpp_type == *other.cpp_type;
    }
};

/// The parameters of a kernel. `bytes` is the size of a block with all their values.
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

/// The type of the kernel for a parameter of a signature.
template <class Parameter>
using KernelType =
    std::conditional_t<std::is_same_v<Parameter, ConditionHandle>, cudaGraphConditionalHandle, Parameter>;

/// Returns the layout of a block of argument values, aligned as CUDA aligns parameters.
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

/// A kernel call without its types. `values[i]` points to the value of parameter i; in an update, null leaves the
/// parameter unchanged.
struct KernelCall {
    const void* symbol; ///< the kernel for functions of the runtime; null if they accept none
    const KernelSignature* signature;
    const PassedConfig* config; ///< null in an update: the configuration stays
    void* const* values;
    const std::byte* block; ///< all values, laid out by `signature`; null if some are unchanged or stored elsewhere
    const FunctionState* function = nullptr; ///< set for a Function
};

template <class Kernel>
inline constexpr bool is_kernel = false;
template <class... Parameter>
inline constexpr bool is_kernel<void (*)(Parameter...)> = true;
template <class... Parameter>
inline constexpr bool is_kernel<void (*)(Parameter...) noexcept> = true;

/// Anything but a kernel, to be refused with a sentence instead of a list of overloads.
template <class Kernel>
concept NoKernel = !is_kernel<std::decay_t<Kernel>>;

/// Fails to compile with a sentence. Returns Result{}, so that the call has no other error.
template <class Kernel, class Result>
constexpr Result refuse_kernel() {
    static_assert(!NoKernel<Kernel>, "cudag: a kernel is a __global__ function or a pointer to one");
    return {};
}

/// A mistaken argument in place of a launch configuration.
template <class Config>
concept NoLaunchConfig = !std::is_convertible_v<Config, LaunchConfig>;

/// Fails to compile with a sentence for this mistake. Returns Result{}, so that the call has no other error.
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

/// Returns the CUDA runtime's symbol of `kernel`. Registers the kernel with the CPU runtime.
template <class... Parameter>
[[nodiscard]] const void* kernel_symbol(void (*kernel)(Parameter...)) {
    know_kernel(kernel);
    return reinterpret_cast<const void*>(kernel);
}

} // namespace cudag::detail
