// The parameters of a GraphFunction: their kinds and names, and the arguments that an Exec has for them.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/config.hpp>
#include <cudag/dynamic_param.hpp>
#include <cudag/function_parameters.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag {

class Graph;

namespace detail {

enum class MemoryDirection : std::uint8_t { in, out, in_out };

/// The memory of a parameter, for checks of the graph.
struct FunctionMemory {
    std::size_t parameter;
    std::string_view name;
    MemoryDirection direction;
    std::uintptr_t begin;
    std::size_t bytes;
};

/// Throws GraphError if a node writes memory of an `in`, or none writes that of another one.
CUDAG_EXPORT void check_directions(const Graph& graph, const FunctionMemory* memory, std::size_t count);
/// Throw GraphError.
[[noreturn]] CUDAG_EXPORT void refuse_no_execs();
[[noreturn]] CUDAG_EXPORT void refuse_moved_function();
[[noreturn]] CUDAG_EXPORT void refuse_unused_parameter(std::size_t parameter, std::string_view name);

template <class Type>
inline constexpr bool no_function_signature = false;

/// The address and length of an argument of a buffer parameter.
struct GivenMemory {
    std::uintptr_t address;
    std::size_t elements;
    bool is_kept; ///< whether the argument owns it
};

template <class Memory>
GivenMemory given_memory(const Memory& memory) {
    if constexpr (is_shared_ptr<Memory>) {
        if (!memory) refuse_null_operand();
        GivenMemory given = given_memory(*memory);
        given.is_kept = true;
        return given;
    } else {
        return {reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), Buffer<Memory>};
    }
}

/// A buffer parameter.
template <class Element, MemoryDirection Of>
struct MemoryParameter {
    static constexpr bool is_memory = true;
    static constexpr MemoryDirection direction = Of;
    static constexpr std::string_view name = {};
    using Held = BufferParam<Element>;

    /// The memory that an Exec has for the parameter.
    struct Argument {
        BufferBinding binding;
        std::uintptr_t address;
        bool is_kept;
        bool is_long_enough; ///< if not, bind refuses it
    };

    template <class Memory>
    static constexpr bool takes() {
        if constexpr (is_device_span<Memory>) {
            using Given = typename Memory::element_type;
            constexpr bool fits =
                std::is_same_v<Given, Element> || (Of == MemoryDirection::in && std::is_same_v<Given, const Element>);
            static_assert(fits,
                          "cudag: this parameter of the GraphFunction takes memory of its elements; only an In takes "
                          "const ones");
            return fits;
        } else {
            return require_memory<Element, Memory>();
        }
    }
    /// The memory of the first call, or a number of elements for memory of the function's own.
    template <class Memory>
    static Held held(const Memory& memory) {
        if constexpr (std::integral<Memory>)
            return Held(static_cast<std::size_t>(memory));
        else if constexpr (takes<Memory>())
            return held_memory(memory);
        else
            return Held(1);
    }
    template <class Memory>
    static BufferBinding binding(const Held& held, const Memory& memory) {
        if constexpr (is_device_span<Memory>)
            return {held, DeviceSpan<Element>(const_cast<Element*>(memory.data()), memory.size())};
        else
            return {held, memory};
    }
    template <class Memory>
    static Argument argument(const Held& held, const Memory& memory) {
        const GivenMemory given = given_memory(memory);
        return {binding(held, memory), given.address, given.is_kept, given.elements >= held.size()};
    }
    static Argument initial(const Held& held) {
        return {BufferBinding(held, held.span()), reinterpret_cast<std::uintptr_t>(held.data()),
                held.owner().use_count() > 0, true};
    }
    /// Whether an Exec with `now` needs no change. While the Exec keeps memory, an equal address means the same memory.
    template <class Memory>
    static bool is_same(const Argument& now, const Held& held, const Memory& memory) {
        const GivenMemory given = given_memory(memory);
        return given.address == now.address && (now.is_kept || !given.is_kept) && given.elements >= held.size();
    }
    /// The same for `wanted`, an argument of another Exec or a new one.
    static bool is_equal(const Argument& wanted, const Argument& now) noexcept {
        return wanted.address == now.address && (now.is_kept || !wanted.is_kept) && wanted.is_long_enough;
    }

  private:
    template <class Memory>
    static Held held_memory(const Memory& memory) {
        if constexpr (is_device_span<Memory>) {
            return Held(DeviceSpan<Element>(const_cast<Element*>(memory.data()), memory.size()));
        } else if constexpr (is_shared_ptr<Memory>) {
            if (!memory) refuse_null_operand();
            return held_memory(*memory);
        } else {
            return Held(memory);
        }
    }
};

/// A value parameter.
template <class Value>
struct ValueParameter {
    static constexpr bool is_memory = false;
    static constexpr std::string_view name = {};
    using Held = DynamicParam<Value>;
    using Argument = Value;

    template <class Given>
    static constexpr bool takes() {
        constexpr bool fits = requires(const Given& given) { Value{given}; };
        static_assert(fits,
                      "cudag: a value of a GraphFunction has its parameter's type, or one that converts to it without "
                      "narrowing");
        return fits;
    }
    template <class Given>
    static Held held(const Given& value) {
        if constexpr (takes<Given>())
            return Held(Value{value});
        else
            return Held(Value());
    }
    template <class Given>
    static Argument argument(const Held& /*held*/, const Given& value) {
        return Value{value};
    }
    static Argument initial(const Held& held) { return held.value(); }
    template <class Given>
    static bool is_same(const Argument& now, const Held& /*held*/, const Given& given) {
        return is_equal(Value{given}, now);
    }
    static bool is_equal(const Argument& wanted, const Argument& now) noexcept {
        return std::memcmp(&wanted, &now, sizeof(Value)) == 0;
    }
};

template <class Parameter>
struct ParameterKind : ValueParameter<Parameter> {};
template <class Element>
struct ParameterKind<In<Element>> : MemoryParameter<Element, MemoryDirection::in> {};
template <class Element>
struct ParameterKind<Out<Element>> : MemoryParameter<Element, MemoryDirection::out> {};
template <class Element>
struct ParameterKind<InOut<Element>> : MemoryParameter<Element, MemoryDirection::in_out> {};
template <ParameterName Name, class Parameter>
struct ParameterKind<Named<Name, Parameter>> : ParameterKind<Parameter> {
    static constexpr ParameterName text = Name;
    static constexpr std::string_view name = text.view();
};

template <class Type>
inline constexpr bool is_function_parameter =
    std::is_trivially_copyable_v<Type> && std::is_object_v<Type> && !std::is_pointer_v<Type>;
template <class Element>
inline constexpr bool is_function_parameter<In<Element>> = std::is_object_v<Element> && !std::is_const_v<Element>;
template <class Element>
inline constexpr bool is_function_parameter<Out<Element>> = is_function_parameter<In<Element>>;
template <class Element>
inline constexpr bool is_function_parameter<InOut<Element>> = is_function_parameter<In<Element>>;
template <ParameterName Name, class Parameter>
inline constexpr bool is_function_parameter<Named<Name, Parameter>> = is_function_parameter<Parameter>;

template <class Argument>
inline constexpr bool is_indexed_argument = false;
template <std::size_t Index, class Value>
inline constexpr bool is_indexed_argument<IndexedArgument<Index, Value>> = true;
template <class Argument>
inline constexpr bool is_named_argument = false;
template <ParameterName Name, class Value>
inline constexpr bool is_named_argument<NamedArgument<Name, Value>> = true;

/// The number of the parameter that an argument by `arg` is for; the number of parameters if there is none.
template <class Argument, class... Parameter>
constexpr std::size_t parameter_of() {
    if constexpr (is_indexed_argument<Argument>) {
        return std::min(Argument::index, sizeof...(Parameter));
    } else if constexpr (is_named_argument<Argument>) {
        std::size_t index = 0;
        static_cast<void>(((ParameterKind<Parameter>::name == Argument::name.view() || (++index, false)) || ...));
        return index;
    } else {
        return sizeof...(Parameter);
    }
}

template <class Argument>
inline constexpr bool is_by_arg = is_indexed_argument<Argument> || is_named_argument<Argument>;

/// The value of an argument, by `arg` or not.
template <class Argument>
constexpr const auto& value_of_argument(const Argument& argument) noexcept {
    if constexpr (is_by_arg<Argument>)
        return argument.value;
    else
        return argument;
}

/// The arguments of a call to a function of these parameters.
template <class Parameters, class Arguments>
struct FunctionCall;
template <class... Parameter, class... Argument>
struct FunctionCall<std::tuple<Parameter...>, std::tuple<Argument...>> {
    static constexpr std::size_t count = sizeof...(Parameter);
    static constexpr bool by_arg = sizeof...(Argument) > 0 && (is_by_arg<Argument> && ...);

    /// Returns the position of the argument for a parameter; `count` if it is not given.
    static constexpr std::size_t position(std::size_t parameter) {
        if constexpr (by_arg) {
            const std::size_t of[]{parameter_of<Argument, Parameter...>()...};
            const auto* const found = std::find(std::begin(of), std::end(of), parameter);
            return found == std::end(of) ? count : static_cast<std::size_t>(found - of);
        } else {
            return parameter;
        }
    }

    /// Whether there is one argument for each parameter, or some by `arg`. Fails to compile if not.
    static constexpr bool require() {
        if constexpr (by_arg) {
            constexpr bool exist = ((parameter_of<Argument, Parameter...>() < count) && ...);
            static_assert(exist, "cudag: this GraphFunction has no parameter of this number or name");
            constexpr bool once = [] {
                std::size_t times[count + 1]{};
                (++times[parameter_of<Argument, Parameter...>()], ...);
                return std::ranges::all_of(times, times + count, [](std::size_t n) { return n < 2; });
            }();
            static_assert(!exist || once, "cudag: this call gives a parameter of the GraphFunction twice");
            return exist && once;
        } else {
            constexpr bool fits = sizeof...(Argument) == count && !(is_by_arg<Argument> || ...);
            static_assert(fits,
                          "cudag: a call of a GraphFunction takes the stream and one argument for each parameter, or "
                          "arguments by arg<index>(value) and arg<\"name\">(value)");
            return fits;
        }
    }
    /// Whether the parameters take the types of the arguments. Fails to compile if not.
    static constexpr bool require_types() {
        return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            return (takes<Index>() && ...);
        }(std::make_index_sequence<count>());
    }

  private:
    template <std::size_t Index>
    static constexpr bool takes() {
        if constexpr (position(Index) < count) {
            using Given = std::tuple_element_t<position(Index), std::tuple<Argument...>>;
            using Value = std::remove_cvref_t<decltype(value_of_argument(std::declval<const Given&>()))>;
            return ParameterKind<std::tuple_element_t<Index, std::tuple<Parameter...>>>::template takes<Value>();
        } else {
            return true;
        }
    }
};

} // namespace detail

} // namespace cudag
