// How a user's argument becomes a kernel's parameter: what is allowed, checked and kept alive.
#pragma once

#include <cudag/access.hpp>
#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <typeinfo>

namespace cudag {
class Condition;
class Node;
template <class T>
class AllocNode;
template <class T>
class DynamicParam;
} // namespace cudag

namespace cudag::detail {

class GraphState;
struct FunctionState;

/// The call whose arguments are being converted, for the error text: the kernel or the node is known, or only a place.
struct CallSite {
    const void* symbol = nullptr;
    const Node* node = nullptr; ///< in an update
    SourceLocation location = {};
    const GraphState* graph = nullptr; ///< that gets a new node
    const FunctionState* function = nullptr;
};

struct ArgumentSite {
    const CallSite& call;
    std::uint32_t position;
};

[[noreturn]] CUDAG_EXPORT void refuse_integer(const ArgumentSite& site, std::uintmax_t magnitude, bool negative,
                                              const std::type_info& parameter);

/// Throws if `condition` is not of the graph of the call.
CUDAG_EXPORT void require_condition(const Condition& condition, const ArgumentSite& site);

template <class A>
inline constexpr bool is_shared_ptr = false;
template <class T>
inline constexpr bool is_shared_ptr<std::shared_ptr<T>> = true;

template <class T>
concept Buffer = std::derived_from<T, OwnedMemory<typename T::element_type>>;

template <class A>
inline constexpr bool is_unique_ptr = false;
template <class T, class D>
inline constexpr bool is_unique_ptr<std::unique_ptr<T, D>> = true;

template <class A>
inline constexpr bool is_alloc_node = false;
template <class T>
inline constexpr bool is_alloc_node<AllocNode<T>> = true;

/// Where kernels take none: handles of nodes, and host memory that knows its size.
template <class A>
concept AnyHandle = std::is_class_v<A> && std::is_base_of_v<Node, A>;
template <class A>
concept HostMemory = std::is_class_v<A> && !Buffer<A> && requires(const A& range) {
    { range.data() } -> std::convertible_to<const volatile void*>;
    range.size();
};

template <class A>
inline constexpr bool is_device_span = false;
template <class T>
inline constexpr bool is_device_span<DeviceSpan<T>> = true;

template <class A>
inline constexpr bool is_dynamic_param = false;
template <class T>
inline constexpr bool is_dynamic_param<DynamicParam<T>> = true;

template <class A>
inline constexpr bool is_declared = false;
template <AccessMode M, class T>
inline constexpr bool is_declared<DeclaredArgument<M, T>> = true;

/// A number that is not a bool: an integer or a floating-point value.
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

template <class A, class P>
concept NumberBecomes =
    Number<A> && Number<P> && (std::is_integral_v<A> || (std::is_floating_point_v<P> && sizeof(A) <= sizeof(P)));

template <class A, class P>
concept PointerBecomes = std::is_pointer_v<P> && std::is_pointer_v<A> && std::convertible_to<A, P>;

template <class A, class P>
concept BufferBecomes = Buffer<A> && (PointerBecomes<decltype(std::declval<const A&>().data()), P> ||
                                      std::convertible_to<decltype(std::declval<const A&>().span()), P>);

template <class A, class P>
concept SpanBecomes = is_device_span<A> && (PointerBecomes<decltype(std::declval<A>().data()), P>);

template <class A, class P>
concept SharedBecomes = is_shared_ptr<A> && (PointerBecomes<decltype(std::declval<A>().get()), P> ||
                                             BufferBecomes<typename A::element_type, P>);

template <class A, class P>
concept ObjectBecomes = (std::is_class_v<P> || std::is_union_v<P> || std::is_enum_v<P> || std::same_as<P, bool>)&&(
    std::same_as<A, P> || (std::is_class_v<A> && std::convertible_to<const A&, P>));

template <class A, class P>
concept DynamicBecomes =
    is_dynamic_param<A> && (std::same_as<typename A::value_type, P> || PointerBecomes<typename A::value_type, P>);

/// Whether a kernel that is given a P may write what that refers to.
template <class P>
constexpr bool may_write() {
    if constexpr (is_span_parameter<P>)
        return !std::is_const_v<typename P::element_type>;
    else if constexpr (std::is_pointer_v<P>)
        return !std::is_const_v<std::remove_pointer_t<P>>;
    else
        return false;
}

template <class A, class P>
concept RangeBecomes = BufferBecomes<A, P> || SpanBecomes<A, P> || (is_span_parameter<P> && ObjectBecomes<A, P>) ||
                       (is_shared_ptr<A> && requires { requires BufferBecomes<typename A::element_type, P>; });

template <class A, class P>
concept DeclaredBecomes = is_declared<A> && requires {
    requires RangeBecomes<typename A::value_type, P>;
    requires A::mode == AccessMode::read || may_write<P>();
};

/// A kernel parameter of type P accepts an argument of type A.
///   - a number: the same kind or wider; an integer of any type if its value fits exactly (checked at run time)
///   - a pointer: a raw pointer, DeviceSpan (borrowed); DeviceBuffer, PinnedBuffer, shared_ptr (kept alive)
///   - in(memory), out(memory), ... of one of these that knows its length
///   - a DynamicParam<P>, which the argument then follows
///   - an object, enum or bool: the same type, or a class that converts to it
template <class A, class P>
concept KernelArgument = std::same_as<A, P> || NumberBecomes<A, P> || PointerBecomes<A, P> || BufferBecomes<A, P> ||
                         SpanBecomes<A, P> || SharedBecomes<A, P> || ObjectBecomes<A, P> || DynamicBecomes<A, P> ||
                         DeclaredBecomes<A, P> || (std::is_pointer_v<P> && std::same_as<A, std::nullptr_t>);

template <class N>
constexpr bool is_negative(N value) noexcept {
    if constexpr (std::is_signed_v<N>)
        return value < N{};
    else
        return false;
}

template <class P, class A>
P number_to(A value, [[maybe_unused]] const ArgumentSite& site) {
    const P result = static_cast<P>(value);
    if constexpr (std::is_integral_v<A> && !std::same_as<A, P>) {
        const bool negative = is_negative(value);
        bool exact = is_negative(result) == negative;
        if constexpr (std::is_integral_v<P>)
            exact = exact && static_cast<A>(result) == value;
        else // long double holds every 64-bit integer exactly
            exact = exact && static_cast<long double>(result) == static_cast<long double>(value);
        if (!exact) [[unlikely]] {
            const auto bits = static_cast<std::uintmax_t>(value);
            refuse_integer(site, negative ? std::uintmax_t{0} - bits : bits, negative, typeid(P));
        }
    }
    return result;
}

/// What a span refers to.
template <class S>
MemoryRegion region_of(const S& span) noexcept {
    constexpr std::size_t size = sizeof(typename S::element_type);
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
        return region_at(span.data(), span.size() * size);
}

template <class P>
inline constexpr AccessMode mode_for = may_write<P>() ? AccessMode::write : AccessMode::read;

template <class P, class A>
P buffer_to(const A& buffer, std::uint32_t position, CallEffects& effects) {
    keep(effects, position, buffer.owner());
    touch(effects, position, mode_for<P>, sizeof(typename A::element_type),
          region_at(buffer.data(), buffer.size_bytes()));
    if constexpr (std::is_pointer_v<P>)
        return buffer.data();
    else
        return buffer.span();
}

/// Converts one argument that satisfies KernelArgument; records what it brings.
template <class P, class Forwarded>
P to_parameter(Forwarded&& argument, CallEffects& effects, const ArgumentSite& site) {
    using A = std::remove_cvref_t<Forwarded>;
    if constexpr (is_declared<A>) {
        const std::size_t before = effects.accesses.size();
        const P result = to_parameter<P>(argument.value, effects, site);
        for (std::size_t i = before; i < effects.accesses.size(); ++i)
            effects.accesses[i].mode = A::mode;
        return result;
    } else if constexpr (is_span_parameter<P> && ObjectBecomes<A, P>) {
        const P span = argument;
        touch(effects, site.position, mode_for<P>, sizeof(typename P::element_type), region_of(span));
        return span;
    } else if constexpr (std::same_as<A, P> && !is_shared_ptr<A>) {
        if constexpr (std::same_as<A, Condition>) require_condition(argument, site);
        return argument;
    } else if constexpr (DynamicBecomes<A, P>) {
        bind(effects, site.position, argument.id());
        return argument.value();
    } else if constexpr (NumberBecomes<A, P>) {
        return number_to<P>(argument, site);
    } else if constexpr (BufferBecomes<A, P>) {
        return buffer_to<P>(argument, site.position, effects);
    } else if constexpr (SpanBecomes<A, P>) {
        touch(effects, site.position, mode_for<P>, sizeof(typename A::element_type), region_of(argument));
        return argument.data();
    } else if constexpr (SharedBecomes<A, P>) {
        if (!argument) return P{};
        if constexpr (Buffer<typename A::element_type>) {
            return buffer_to<P>(*argument, site.position, effects);
        } else {
            keep(effects, site.position, any_owner(argument));
            return argument.get();
        }
    } else {
        return static_cast<P>(argument);
    }
}

} // namespace cudag::detail
