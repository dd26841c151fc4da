// The arguments of a kernel with unknown parameter types: each argument is passed in its own type.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/packed_arguments.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// One argument value, to be copied.
struct GivenArgument {
    std::size_t index;
    std::size_t bytes;
    const void* value;
    bool is_condition = false; ///< the value begins with CUDA's handle; kernels accept the handle as well
};

/// The arguments of one call, as a list or as one object.
struct GivenArguments {
    std::span<const GivenArgument> list;
    bool is_complete = true;                 ///< one for each parameter, in order
    const PackedArguments* packed = nullptr; ///< replaces the list unless null
};

/// Returns the parameter type for an argument of type Argument. For types that are no arguments, it is a pointer type
/// to which they do not convert.
template <class Argument>
constexpr auto parameter_for() {
    if constexpr (is_declared<Argument>)
        return parameter_for<typename Argument::value_type>();
    else if constexpr (is_dynamic_param<Argument>)
        return std::type_identity<typename Argument::value_type>();
    else if constexpr (Buffer<Argument>)
        return std::type_identity<decltype(std::declval<const Argument&>().data())>();
    else if constexpr (is_device_span<Argument>)
        return std::type_identity<decltype(std::declval<Argument>().data())>();
    else if constexpr (is_shared_ptr<Argument>)
        if constexpr (Buffer<typename Argument::element_type>)
            return std::type_identity<decltype(std::declval<Argument>()->data())>();
        else
            return std::type_identity<typename Argument::element_type*>();
    else if constexpr (std::is_array_v<Argument> || std::same_as<Argument, std::nullptr_t> || is_alloc_node<Argument> ||
                       AnyHandle<Argument> || HostMemory<Argument> || is_unique_ptr<Argument> || is_indexed<Argument>)
        return std::type_identity<void*>();
    else
        return std::type_identity<Argument>();
}
template <class Argument>
using ParameterFor = typename decltype(parameter_for<Argument>())::type;

template <class Argument>
inline constexpr bool is_argument_at = false;
template <class Value>
inline constexpr bool is_argument_at<ArgumentAt<Value>> = true;
template <class Argument>
inline constexpr bool names_position = is_indexed<Argument> || is_argument_at<Argument>;

template <class Argument>
inline constexpr bool is_bytes =
    std::same_as<Argument, std::span<const std::byte>> || std::same_as<Argument, std::span<std::byte>>;

/// Fails to compile if Argument cannot be argument `Position` of any kernel.
template <std::size_t Position, class Argument>
constexpr bool require_value() {
    using Wanted = ParameterFor<Argument>;
    static_assert(!is_argument_at<Argument>,
                  "cudag: arg(i, value) is for updates: kernel and launch take all arguments in "
                  "order");
    static_assert(std::is_trivially_copyable_v<Wanted>,
                  "cudag: an argument of a Function is passed as its bytes, and must be trivially copyable");
    require_argument<Position, Argument, Wanted>();
    return !is_argument_at<Argument> && std::is_trivially_copyable_v<Wanted> && KernelArgument<Argument, Wanted>;
}

template <class... Argument>
constexpr bool require_values() {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
        return (static_cast<int>(require_value<Index, Argument>()) & ... & 1) != 0;
    }(std::index_sequence_for<Argument...>());
}

/// All arguments of one call, each in its own type.
template <class... Argument>
class GivenValues {
  public:
    template <class... Callable>
    GivenValues(CallEffects& effects, const CallSite& call, Callable&&... arguments)
        : GivenValues(std::index_sequence_for<Argument...>(), effects, call, std::forward<Callable>(arguments)...) {}
    GivenValues(const GivenValues&) = delete;
    GivenValues& operator=(const GivenValues&) = delete;

    [[nodiscard]] GivenArguments get() const noexcept { return {std::span(list_.data(), sizeof...(Argument))}; }

  private:
    template <std::size_t... Index, class... Callable>
    GivenValues(std::index_sequence<Index...>, [[maybe_unused]] CallEffects& effects,
                [[maybe_unused]] const CallSite& call, Callable&&... arguments)
        : values_(to_parameter<ParameterFor<Argument>>(std::forward<Callable>(arguments), effects,
                                                       ArgumentSite{call, Index})...),
          list_{GivenArgument{Index, sizeof(ParameterFor<Argument>), &std::get<Index>(values_),
                              std::is_same_v<ParameterFor<Argument>, Condition>}...,
                GivenArgument{}} {}

    std::tuple<ParameterFor<Argument>...> values_;
    std::array<GivenArgument, sizeof...(Argument) + 1> list_; // never of size 0
};

/// One argument with its position. A span of bytes is borrowed.
template <class Value>
class GivenValueAt {
  public:
    GivenValueAt(CallEffects& effects, const CallSite& call, std::size_t index, const Value& value)
        : value_(to_parameter<ParameterFor<Value>>(value, effects, {call, static_cast<std::uint32_t>(index)})),
          index_(index) {}

    [[nodiscard]] GivenArgument get() const noexcept {
        return {index_, sizeof value_, &value_, std::is_same_v<ParameterFor<Value>, Condition>};
    }

  private:
    ParameterFor<Value> value_;
    std::size_t index_;
};
template <class Value>
requires is_bytes<Value>
class GivenValueAt<Value> {
  public:
    GivenValueAt(CallEffects&, const CallSite&, std::size_t index, const Value& value)
        : given_{index, value.size(), value.data(), false} {}

    [[nodiscard]] GivenArgument get() const noexcept { return given_; }

  private:
    GivenArgument given_;
};

template <std::size_t Index, class Value>
constexpr std::size_t index_of(const IndexedArgument<Index, Value>&) noexcept {
    return Index;
}
template <class Value>
constexpr std::size_t index_of(const ArgumentAt<Value>& argument) noexcept {
    return argument.index;
}

/// Fails to compile if Argument has no position, or no value for a kernel.
template <class Argument>
constexpr bool require_position() {
    static_assert(names_position<Argument>,
                  "cudag: an update of a Function's launch takes all arguments, or arg(i, value) for "
                  "each that changes");
    if constexpr (names_position<Argument>)
        if constexpr (!is_bytes<typename Argument::value_type>)
            return require_value<0, typename Argument::value_type>();
    return names_position<Argument>;
}

/// Some arguments of one call, with their positions: IndexedArguments and ArgumentsAt.
template <class... Argument>
class SomeGivenValues {
  public:
    SomeGivenValues(CallEffects& effects, const CallSite& call, const Argument&... arguments)
        : values_{GivenValueAt<typename Argument::value_type>(effects, call, index_of(arguments), arguments.value)...},
          list_(std::apply([](const auto&... value) { return std::array{value.get()...}; }, values_)) {}
    SomeGivenValues(const SomeGivenValues&) = delete;
    SomeGivenValues& operator=(const SomeGivenValues&) = delete;

    [[nodiscard]] GivenArguments get() const noexcept { return {list_, false}; }

  private:
    std::tuple<GivenValueAt<typename Argument::value_type>...> values_;
    std::array<GivenArgument, sizeof...(Argument)> list_;
};

/// All arguments of one call in one object.
class GivenPack {
  public:
    GivenPack(CallEffects&, const CallSite&, const PackedArguments& arguments) noexcept : arguments_(arguments) {}

    [[nodiscard]] GivenArguments get() const noexcept { return {{}, true, &arguments_}; }

  private:
    PackedArguments arguments_;
};

template <class... Argument>
inline constexpr bool is_packed = false;
template <>
inline constexpr bool is_packed<PackedArguments> = true;

/// Calls `use(given, effects)` with all arguments of a call.
template <class... Argument, class Use>
auto with_all_arguments(const CallSite& call, const Use& use, Argument&&... arguments)
    -> decltype(use(GivenArguments(), CallEffects())) {
    CallEffects effects;
    if constexpr (is_packed<std::remove_cvref_t<Argument>...>) {
        const GivenPack pack(effects, call, arguments...);
        return use(pack.get(), std::move(effects));
    } else if constexpr (require_values<std::remove_cvref_t<Argument>...>()) {
        const GivenValues<std::remove_cvref_t<Argument>...> values(effects, call, std::forward<Argument>(arguments)...);
        return use(values.get(), std::move(effects));
    } else {
        return decltype(use(GivenArguments(), CallEffects()))();
    }
}

} // namespace cudag::detail
