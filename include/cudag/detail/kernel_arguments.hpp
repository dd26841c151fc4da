// The arguments of one typed kernel call: conversion and checks.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/detail/argument.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/launch_config.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <tuple>
#include <utility>

namespace cudag::detail {

template <class Argument>
inline constexpr bool is_indexed = false;
template <std::size_t Index, class Value>
inline constexpr bool is_indexed<IndexedArgument<Index, Value>> = true;

template <std::size_t Position, class Argument, class Parameter>
constexpr void require_argument();

/// Fails to compile with a sentence if in(x), out(x), ... does not fit Parameter.
template <std::size_t Position, class Argument, class Parameter>
constexpr void refuse_declared() {
    using Value = typename Argument::value_type;
    if constexpr (!KernelArgument<Value, Parameter>) {
        require_argument<Position, Value, Parameter>();
    } else {
        static_assert(RangeBecomes<Value, Parameter>,
                      "cudag: in(), out(), inout(), atomic() and disjoint() take memory that knows "
                      "its length: a DeviceBuffer, a DeviceSpan or a shared_ptr to a buffer");
        static_assert(!RangeBecomes<Value, Parameter> || Argument::mode == AccessMode::read || may_write<Parameter>(),
                      "cudag: the kernel cannot write this: its parameter points to const; say in(memory), or nothing");
    }
}

/// Fails to compile, with the types in the compiler's notes, if argument `Position` of type Argument does not fit
/// Parameter.
template <std::size_t Position, class Argument, class Parameter>
constexpr void require_argument() {
    static_assert(!std::is_reference_v<Parameter>, "cudag: a kernel parameter cannot be a reference");
    if constexpr (!KernelArgument<Argument, Parameter>) {
        constexpr bool is_alloc = is_alloc_node<Argument>;
        constexpr bool is_array = std::is_array_v<Argument>;
        constexpr bool is_host =
            !is_array && !is_device_span<Argument> && HostMemory<Argument> && !std::is_class_v<Parameter>;
        constexpr bool is_const =
            std::is_pointer_v<Parameter> && KernelArgument<Argument, const std::remove_pointer_t<Parameter>*>;
        constexpr bool loses = Number<Argument> && Number<Parameter>;
        constexpr bool other = std::is_reference_v<Parameter> ||
                               !(is_alloc || is_array || is_host || is_const || loses || AnyHandle<Argument> ||
                                 is_unique_ptr<Argument> || is_indexed<Argument> || is_declared<Argument>);
        if constexpr (is_declared<Argument>) refuse_declared<Position, Argument, Parameter>();
        static_assert(!is_alloc, "cudag: an AllocNode is no memory itself: pass its span()");
        static_assert(is_alloc || !AnyHandle<Argument>,
                      "cudag: a node is no kernel argument; node.on_device() is one for a "
                      "kernel that changes the node");
        static_assert(!is_array, "cudag: a host array is not readable on the device; copy it to a DeviceBuffer");
        static_assert(!is_host, "cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or use a "
                                "PinnedBuffer");
        static_assert(!is_unique_ptr<Argument>,
                      "cudag: a unique_ptr cannot be kept by a graph: pass get(), or a shared_ptr");
        static_assert(!is_indexed<Argument>,
                      "cudag: arg<I>(value) is for updates: kernel and launch take all arguments in order");
        static_assert(!is_const, "cudag: a pointer to const cannot become one to what the kernel may write");
        static_assert(!loses, "cudag: a number must not be narrowed to the parameter's type: write it in that type, "
                              "such as 2.0f for a float");
        static_assert(!other, "cudag: kernel argument cannot become the kernel's parameter type; see the types below");
    }
}

/// The values of all parameters of one call, in one block laid out by the signature.
template <class... Parameter>
class KernelArguments {
  public:
    template <class... Argument>
    KernelArguments(CallEffects& effects, const CallSite& call, Argument&&... arguments) {
        fill(std::index_sequence_for<Parameter...>(), effects, call, std::forward<Argument>(arguments)...);
    }

    KernelArguments(const KernelArguments&) = delete;
    KernelArguments& operator=(const KernelArguments&) = delete;

    [[nodiscard]] void* const* pointers() const noexcept { return pointers_.data(); }
    [[nodiscard]] const std::byte* block() const noexcept { return block_.data(); }

  private:
    template <std::size_t... Index, class... Argument>
    void fill(std::index_sequence<Index...>, [[maybe_unused]] CallEffects& effects,
              [[maybe_unused]] const CallSite& call, Argument&&... arguments) {
        ((pointers_[Index] = new (block_.data() + SignatureOf<Parameter...>::layout.parameters[Index].offset) Parameter(
              to_parameter<Parameter>(std::forward<Argument>(arguments), effects, ArgumentSite{call, Index}))),
         ...);
    }

    alignas(std::max_align_t) alignas(
        Parameter...) std::array<std::byte, SignatureOf<Parameter...>::layout.bytes + 1> block_;
    std::array<void*, sizeof...(Parameter) + 1> pointers_; // never of size 0
};

/// The values of some parameters; the pointers to the others are null.
template <class Parameters, class Given>
class SomeKernelArguments;

template <class... Parameter, std::size_t... Index, class... Value>
class SomeKernelArguments<std::tuple<Parameter...>, std::tuple<IndexedArgument<Index, Value>...>> {
  public:
    SomeKernelArguments([[maybe_unused]] CallEffects& effects, [[maybe_unused]] const CallSite& call,
                        const IndexedArgument<Index, Value>&... arguments)
        : values_{to_parameter<std::tuple_element_t<Index, std::tuple<Parameter...>>>(
              std::forward<Value>(arguments.value), effects, ArgumentSite{call, Index})...} {
        point(std::index_sequence_for<Value...>());
    }

    SomeKernelArguments(const SomeKernelArguments&) = delete;
    SomeKernelArguments& operator=(const SomeKernelArguments&) = delete;

    [[nodiscard]] void* const* pointers() const noexcept { return pointers_.data(); }
    [[nodiscard]] const std::byte* block() const noexcept { return nullptr; }

  private:
    template <std::size_t... Place>
    void point(std::index_sequence<Place...>) noexcept {
        ((pointers_[Index] = &std::get<Place>(values_)), ...);
    }

    std::tuple<std::tuple_element_t<Index, std::tuple<Parameter...>>...> values_;
    std::array<void*, sizeof...(Parameter) + 1> pointers_{};
};

/// Placeholder for a value if only its type is deduced.
template <class Value>
inline constexpr Value* no_value = nullptr;

/// True if a LaunchConfig is the first argument.
template <class... Argument>
inline constexpr bool starts_with_config = false;
template <class First, class... Rest>
inline constexpr bool starts_with_config<First, Rest...> = std::is_same_v<std::remove_cvref_t<First>, LaunchConfig>;

/// Returns the signature of a call with all arguments.
template <class... Parameter, class... Argument>
constexpr const KernelSignature& signature_of(std::tuple<Parameter...>*, std::tuple<Argument...>*) noexcept {
    return SignatureOf<InSignature<Argument, Parameter>...>::value;
}

/// True if one of the arguments is a Condition for this parameter.
template <std::size_t Place, class Parameter, class... Argument>
inline constexpr bool takes_condition =
    ((Argument::index == Place && ConditionBecomes<typename Argument::value_type, Parameter>) || ...);

/// Returns the signature of an update of some arguments.
template <std::size_t... Place, class... Parameter, class... Argument>
constexpr const KernelSignature& signature_of_some(std::index_sequence<Place...>, std::tuple<Parameter...>*,
                                                   std::tuple<Argument...>*) noexcept {
    return SignatureOf<
        std::conditional_t<takes_condition<Place, Parameter, Argument...>, ConditionHandle, Parameter>...>::value;
}

/// Fails to compile if a complete argument list has a wrong number or wrong types; each error is one readable sentence.
template <class... Parameter, class... Argument>
constexpr bool require_arguments(std::tuple<Parameter...>*, std::tuple<Argument...>*) {
    constexpr bool same_count = sizeof...(Parameter) == sizeof...(Argument);
    static_assert(same_count, "cudag: the number of arguments is not the number of the kernel's parameters");
    if constexpr (same_count) {
        []<std::size_t... Index>(std::index_sequence<Index...>) {
            (require_argument<Index, Argument, Parameter>(), ...);
        }(std::index_sequence_for<Parameter...>());
        return (KernelArgument<Argument, Parameter> && ...);
    } else {
        return false;
    }
}

/// Fails to compile if Argument names no parameter, or does not fit it.
template <class Parameters, class Argument>
constexpr bool require_one() {
    static_assert(is_indexed<Argument>, "cudag: an update takes all arguments, or arg<I>(value) for each that changes");
    if constexpr (is_indexed<Argument>) {
        constexpr bool exists = Argument::index < std::tuple_size_v<Parameters>;
        static_assert(exists, "cudag: arg<I>: the kernel has no parameter I");
        if constexpr (exists) {
            using Wanted = std::tuple_element_t<Argument::index, Parameters>;
            require_argument<Argument::index, typename Argument::value_type, Wanted>();
            return KernelArgument<typename Argument::value_type, Wanted>;
        }
    }
    return false;
}

template <class Argument, class Other>
inline constexpr bool same_index = false;
template <std::size_t Index, class Value, class Other>
inline constexpr bool same_index<IndexedArgument<Index, Value>, IndexedArgument<Index, Other>> = true;

template <class Argument, class... All>
inline constexpr int times_named = (static_cast<int>(same_index<Argument, All>) + ... + 0);

/// Fails to compile if one of the arguments by position does not fit, or two name one parameter.
template <class Parameters, class... Argument>
constexpr bool require_indexed(Parameters*, std::tuple<Argument...>*) {
    static_assert(((times_named<Argument, Argument...> <= 1) && ...), "cudag: arg<I> names a parameter twice");
    return (static_cast<int>(require_one<Parameters, Argument>()) & ... & 1) != 0;
}

} // namespace cudag::detail
