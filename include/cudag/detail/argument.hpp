// The conversion of a user's argument to a kernel's parameter: accepted types, checks and owners.
#pragma once

#include <cudag/access.hpp>
#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/type_name.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

namespace cudag {
class Condition;
class Node;
template <class Type>
class AllocNode;
template <class Type>
class DynamicParam;
} // namespace cudag

namespace cudag::detail {

class GraphState;
struct FunctionState;

/// The call with the arguments, for error texts. Either its kernel or its node is known, or only its location.
struct CallSite {
    const void* symbol = nullptr;
    const Node* node = nullptr; ///< set in an update
    SourceLocation location = {};
    const GraphState* graph = nullptr; ///< the graph of a new node
    const FunctionState* function = nullptr;
};

/// One argument of a call.
struct ArgumentSite {
    const CallSite& call;
    std::uint32_t position;
};

/// Refuses an integer outside the range of its parameter. Throws GraphError, in an update UpdateError.
[[noreturn]] CUDAG_EXPORT void refuse_integer(const ArgumentSite& site, std::uintmax_t magnitude, bool negative,
                                              const TypeTag& parameter);

/// Throws GraphError, in an update UpdateError, if `condition` does not belong to the graph of the call.
CUDAG_EXPORT void require_condition(const Condition& condition, const ArgumentSite& site);

template <class Argument>
inline constexpr bool is_shared_ptr = false;
template <class Type>
inline constexpr bool is_shared_ptr<std::shared_ptr<Type>> = true;

/// A buffer: DeviceBuffer, PinnedBuffer, DeviceScalar or BufferParam.
template <class Type>
concept Buffer = std::derived_from<Type, OwnedMemory<typename Type::element_type>>;

template <class Argument>
inline constexpr bool is_unique_ptr = false;
template <class Type, class Deleter>
inline constexpr bool is_unique_ptr<std::unique_ptr<Type, Deleter>> = true;

template <class Argument>
inline constexpr bool is_alloc_node = false;
template <class Type>
inline constexpr bool is_alloc_node<AllocNode<Type>> = true;

/// A handle of a node, refused as a kernel argument.
template <class Argument>
concept AnyHandle = std::is_class_v<Argument> && std::is_base_of_v<Node, Argument>;
/// Host memory of known size, refused as a kernel argument.
template <class Argument>
concept HostMemory = std::is_class_v<Argument> && !Buffer<Argument> && requires(const Argument& range) {
    { range.data() } -> std::convertible_to<const volatile void*>;
    range.size();
};

template <class Argument>
inline constexpr bool is_device_span = false;
template <class Type>
inline constexpr bool is_device_span<DeviceSpan<Type>> = true;

template <class Argument>
inline constexpr bool is_dynamic_param = false;
template <class Type>
inline constexpr bool is_dynamic_param<DynamicParam<Type>> = true;

template <class Argument>
inline constexpr bool is_declared = false;
template <AccessMode Mode, class Type>
inline constexpr bool is_declared<DeclaredArgument<Mode, Type>> = true;

/// A type of numbers: integral or floating-point, but not bool.
template <class Type>
concept Number = std::is_arithmetic_v<Type> && !std::same_as<Type, bool>;

template <class Argument, class Parameter>
concept NumberBecomes =
    Number<Argument> && Number<Parameter> &&
    (std::is_integral_v<Argument> || (std::is_floating_point_v<Parameter> && sizeof(Argument) <= sizeof(Parameter)));

template <class Argument, class Parameter>
concept PointerBecomes =
    std::is_pointer_v<Parameter> && std::is_pointer_v<Argument> && std::convertible_to<Argument, Parameter>;

template <class Argument, class Parameter>
concept BufferBecomes =
    Buffer<Argument> && (PointerBecomes<decltype(std::declval<const Argument&>().data()), Parameter> ||
                         std::convertible_to<decltype(std::declval<const Argument&>().span()), Parameter>);

template <class Argument, class Parameter>
concept SpanBecomes =
    is_device_span<Argument> && (PointerBecomes<decltype(std::declval<Argument>().data()), Parameter>);

template <class Argument, class Parameter>
concept SharedBecomes =
    is_shared_ptr<Argument> && (PointerBecomes<decltype(std::declval<Argument>().get()), Parameter> ||
                                BufferBecomes<typename Argument::element_type, Parameter>);

template <class Argument, class Parameter>
concept ObjectBecomes =
    (std::is_class_v<Parameter> || std::is_union_v<Parameter> || std::is_enum_v<Parameter> ||
     std::same_as<Parameter, bool>)&&(std::same_as<Argument, Parameter> ||
                                      (std::is_class_v<Argument> && std::convertible_to<const Argument&, Parameter>));

template <class Argument, class Parameter>
concept DynamicBecomes = is_dynamic_param<Argument> && (std::same_as<typename Argument::value_type, Parameter> ||
                                                        PointerBecomes<typename Argument::value_type, Parameter>);

/// True if a kernel may write the memory behind a parameter of this type.
template <class Parameter>
constexpr bool may_write() {
    if constexpr (is_span_parameter<Parameter>)
        return !std::is_const_v<typename Parameter::element_type>;
    else if constexpr (std::is_pointer_v<Parameter>)
        return !std::is_const_v<std::remove_pointer_t<Parameter>>;
    else
        return false;
}

template <class Argument, class Parameter>
concept RangeBecomes =
    BufferBecomes<Argument, Parameter> || SpanBecomes<Argument, Parameter> ||
    (is_span_parameter<Parameter> && (ObjectBecomes<Argument, Parameter> || DynamicBecomes<Argument, Parameter>)) ||
    (is_shared_ptr<Argument> && requires { requires BufferBecomes<typename Argument::element_type, Parameter>; });

template <class Argument, class Parameter>
concept DeclaredBecomes = is_declared<Argument> && requires {
    requires RangeBecomes<typename Argument::value_type, Parameter>;
    requires Argument::mode == AccessMode::read || may_write<Parameter>();
};

/// A kernel parameter of type Parameter accepts an argument of type Argument. The accepted arguments are
///   - for a floating-point parameter: a floating-point number at most as wide, or an integer
///   - for an integral parameter: an integer of any type
///   - for a pointer: a raw pointer, nullptr or DeviceSpan (borrowed); a DeviceBuffer, PinnedBuffer, shared_ptr (kept)
///   - for memory of known length: also in(memory), out(memory), ...
///   - for any type: a DynamicParam<Parameter>, and the argument follows it
///   - for CUDA's handle of a condition: a Condition
///   - for an object, an enum or a bool: the same type, or a class that converts to it
/// The value of an integer must fit exactly. This is checked at run time.
template <class Argument, class Parameter>
concept KernelArgument =
    std::same_as<Argument, Parameter> || NumberBecomes<Argument, Parameter> || PointerBecomes<Argument, Parameter> ||
    BufferBecomes<Argument, Parameter> || SpanBecomes<Argument, Parameter> || SharedBecomes<Argument, Parameter> ||
    ObjectBecomes<Argument, Parameter> || DynamicBecomes<Argument, Parameter> || DeclaredBecomes<Argument, Parameter> ||
    ConditionBecomes<Argument, Parameter> || (std::is_pointer_v<Parameter> && std::same_as<Argument, std::nullptr_t>);

template <class Integer>
constexpr bool is_negative(Integer value) noexcept {
    if constexpr (std::is_signed_v<Integer>)
        return value < Integer{};
    else
        return false;
}

/// Converts a number. Throws GraphError, in an update UpdateError, if an integer does not fit exactly.
template <class Parameter, class Argument>
Parameter number_to(Argument value, [[maybe_unused]] const ArgumentSite& site) {
    const Parameter result = static_cast<Parameter>(value);
    if constexpr (std::is_integral_v<Argument> && !std::same_as<Argument, Parameter>) {
        const bool negative = is_negative(value);
        bool exact = is_negative(result) == negative;
        if constexpr (std::is_integral_v<Parameter>)
            exact = exact && static_cast<Argument>(result) == value;
        else // long double holds every 64-bit integer exactly
            exact = exact && static_cast<long double>(result) == static_cast<long double>(value);
        if (!exact) [[unlikely]] {
            const auto bits = static_cast<std::uintmax_t>(value);
            refuse_integer(site, negative ? std::uintmax_t{0} - bits : bits, negative, TypeOf<Parameter>::tag);
        }
    }
    return result;
}

/// Returns the memory of a span.
template <class Span>
MemoryBlock block_of(const Span& span) noexcept {
    constexpr std::size_t size = sizeof(typename Span::element_type);
    if constexpr (requires { span.slice_height(); })
        return {reinterpret_cast<std::uintptr_t>(span.data()),
                span.width() * size,
                span.height(),
                span.pitch(),
                span.depth(),
                span.pitch() * span.slice_height()};
    else if constexpr (requires { span.pitch(); })
        return {reinterpret_cast<std::uintptr_t>(span.data()), span.width() * size, span.height(), span.pitch()};
    else
        return block_at(span.data(), span.size() * size);
}

/// The access of a kernel through a parameter of this type, unless declared otherwise.
template <class Parameter>
inline constexpr AccessMode mode_for = may_write<Parameter>() ? AccessMode::write : AccessMode::read;

/// Converts a buffer, and records its owner and the access to it.
template <class Parameter, class Argument>
Parameter buffer_to(const Argument& buffer, std::uint32_t position, CallEffects& effects) {
    keep(effects, position, buffer.owner());
    touch(effects, position, mode_for<Parameter>, sizeof(typename Argument::element_type),
          block_at(buffer.data(), buffer.size_bytes()));
    if constexpr (std::is_pointer_v<Parameter>)
        return buffer.data();
    else
        return buffer.span();
}

/// Converts an argument of a type accepted by KernelArgument, and records its effects: owners, bindings and accesses.
template <class Parameter, class Forwarded>
Parameter to_parameter(Forwarded&& argument, CallEffects& effects, const ArgumentSite& site) {
    using Argument = std::remove_cvref_t<Forwarded>;
    if constexpr (is_declared<Argument>) {
        const std::size_t before = effects.accesses.size(), bound = effects.bindings.size();
        const Parameter result = to_parameter<Parameter>(argument.value, effects, site);
        for (std::size_t i = before; i < effects.accesses.size(); ++i)
            effects.accesses[i].mode = Argument::mode;
        for (std::size_t i = bound; i < effects.bindings.size(); ++i)
            effects.bindings[i].mode = Argument::mode;
        return result;
    } else if constexpr (is_span_parameter<Parameter> && ObjectBecomes<Argument, Parameter>) {
        const Parameter span = argument;
        touch(effects, site.position, mode_for<Parameter>, sizeof(typename Parameter::element_type), block_of(span));
        return span;
    } else if constexpr (std::same_as<Argument, Parameter> && !is_shared_ptr<Argument>) {
        if constexpr (std::same_as<Argument, Condition>) require_condition(argument, site);
        return argument;
    } else if constexpr (ConditionBecomes<Argument, Parameter>) {
        require_condition(argument, site);
        return argument.native();
    } else if constexpr (DynamicBecomes<Argument, Parameter>) {
        if constexpr (is_span_parameter<Parameter>) {
            constexpr std::size_t element = sizeof(typename Parameter::element_type);
            touch(effects, site.position, mode_for<Parameter>, element, block_of(argument.value()));
            effects.bindings.push_back({site.position, Access::id(argument), mode_for<Parameter>, element});
        } else {
            effects.bindings.push_back({site.position, Access::id(argument)});
        }
        return argument.value();
    } else if constexpr (NumberBecomes<Argument, Parameter>) {
        return number_to<Parameter>(argument, site);
    } else if constexpr (BufferBecomes<Argument, Parameter>) {
        return buffer_to<Parameter>(argument, site.position, effects);
    } else if constexpr (SpanBecomes<Argument, Parameter>) {
        touch(effects, site.position, mode_for<Parameter>, sizeof(typename Argument::element_type), block_of(argument));
        return argument.data();
    } else if constexpr (SharedBecomes<Argument, Parameter>) {
        if (!argument) return Parameter{};
        if constexpr (Buffer<typename Argument::element_type>) {
            return buffer_to<Parameter>(*argument, site.position, effects);
        } else {
            keep(effects, site.position, any_owner(argument));
            return argument.get();
        }
    } else {
        return static_cast<Parameter>(argument);
    }
}

} // namespace cudag::detail
