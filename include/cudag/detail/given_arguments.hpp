// The arguments of a kernel whose parameters' types are unknown: each is passed as what it is.
#pragma once

#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/packed_arguments.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag {

/// One argument by a position that is known at run time: made by `arg(index, value)`.
template <class T>
struct ArgumentAt {
    using value_type = std::remove_cvref_t<T>;
    std::size_t index;
    T&& value;
};

/// Names parameter `index` of a Function in an update: `exec.update(node, cudag::arg(1, 3.0f))`. A span of bytes is the
/// value itself. Refers to `value`, so it must be used within the expression that makes it.
template <class T>
[[nodiscard]] ArgumentAt<T> arg(std::size_t index, T&& value) noexcept {
    return {index, std::forward<T>(value)};
}

namespace detail {

/// One value, to be copied.
struct GivenArgument {
    std::size_t index;
    std::size_t bytes;
    const void* value;
};

struct GivenArguments {
    std::span<const GivenArgument> list;
    bool is_complete = true;                 ///< one for each parameter, in order
    const PackedArguments* packed = nullptr; ///< instead of the list
};

/// The parameter that an argument of type A is passed as; of what can be none, some pointer, which it does not become.
template <class A>
constexpr auto parameter_for() {
    if constexpr (is_declared<A>)
        return parameter_for<typename A::value_type>();
    else if constexpr (is_dynamic_param<A>)
        return std::type_identity<typename A::value_type>();
    else if constexpr (Buffer<A>)
        return std::type_identity<decltype(std::declval<const A&>().data())>();
    else if constexpr (is_device_span<A>)
        return std::type_identity<decltype(std::declval<A>().data())>();
    else if constexpr (is_shared_ptr<A>)
        if constexpr (Buffer<typename A::element_type>)
            return std::type_identity<decltype(std::declval<A>()->data())>();
        else
            return std::type_identity<typename A::element_type*>();
    else if constexpr (std::is_array_v<A> || std::same_as<A, std::nullptr_t> || is_alloc_node<A> || AnyHandle<A> ||
                       HostMemory<A> || is_unique_ptr<A> || is_indexed<A>)
        return std::type_identity<void*>();
    else
        return std::type_identity<A>();
}
template <class A>
using ParameterFor = typename decltype(parameter_for<A>())::type;

template <class A>
inline constexpr bool is_argument_at = false;
template <class T>
inline constexpr bool is_argument_at<ArgumentAt<T>> = true;
template <class A>
inline constexpr bool names_position = is_indexed<A> || is_argument_at<A>;

template <class A>
inline constexpr bool is_bytes = std::same_as<A, std::span<const std::byte>> || std::same_as<A, std::span<std::byte>>;

/// Fails to compile if A cannot be argument `Position` of any kernel.
template <std::size_t Position, class A>
constexpr bool require_value() {
    using P = ParameterFor<A>;
    static_assert(!is_argument_at<A>, "cudag: arg(i, value) is for updates: kernel and launch take all arguments in "
                                      "order");
    static_assert(std::is_trivially_copyable_v<P>,
                  "cudag: an argument of a Function is passed as its bytes, and must be trivially copyable");
    require_argument<Position, A, P>();
    return !is_argument_at<A> && std::is_trivially_copyable_v<P> && KernelArgument<A, P>;
}

template <class... A>
constexpr bool require_values() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return (static_cast<int>(require_value<I, A>()) & ... & 1) != 0;
    }(std::index_sequence_for<A...>());
}

/// All arguments of one call, each as what it is.
template <class... A>
class GivenValues {
  public:
    template <class... F>
    GivenValues(CallEffects& effects, const CallSite& call, F&&... arguments)
        : GivenValues(std::index_sequence_for<A...>(), effects, call, std::forward<F>(arguments)...) {}
    GivenValues(const GivenValues&) = delete;
    GivenValues& operator=(const GivenValues&) = delete;

    [[nodiscard]] GivenArguments get() const noexcept { return {std::span(list_.data(), sizeof...(A))}; }

  private:
    template <std::size_t... I, class... F>
    GivenValues(std::index_sequence<I...>, [[maybe_unused]] CallEffects& effects, [[maybe_unused]] const CallSite& call,
                F&&... arguments)
        : values_(to_parameter<ParameterFor<A>>(std::forward<F>(arguments), effects, ArgumentSite{call, I})...),
          list_{GivenArgument{I, sizeof(ParameterFor<A>), &std::get<I>(values_)}..., GivenArgument{}} {}

    std::tuple<ParameterFor<A>...> values_;
    std::array<GivenArgument, sizeof...(A) + 1> list_; // never of size 0
};

/// One argument by position.
template <class T>
class GivenValueAt {
  public:
    GivenValueAt(CallEffects& effects, const CallSite& call, std::size_t index, const T& value)
        : value_(to_parameter<ParameterFor<T>>(value, effects, {call, static_cast<std::uint32_t>(index)})),
          index_(index) {}

    [[nodiscard]] GivenArgument get() const noexcept { return {index_, sizeof value_, &value_}; }

  private:
    ParameterFor<T> value_;
    std::size_t index_;
};
template <class T>
requires is_bytes<T>
class GivenValueAt<T> {
  public:
    GivenValueAt(CallEffects&, const CallSite&, std::size_t index, const T& value)
        : given_{index, value.size(), value.data()} {}

    [[nodiscard]] GivenArgument get() const noexcept { return given_; }

  private:
    GivenArgument given_;
};

template <std::size_t I, class T>
constexpr std::size_t index_of(const IndexedArgument<I, T>&) noexcept {
    return I;
}
template <class T>
constexpr std::size_t index_of(const ArgumentAt<T>& argument) noexcept {
    return argument.index;
}

template <class A>
constexpr bool require_position() {
    static_assert(names_position<A>,
                  "cudag: an update of a Function's launch takes all arguments, or arg(i, value) for "
                  "each that changes");
    if constexpr (names_position<A>)
        if constexpr (!is_bytes<typename A::value_type>) return require_value<0, typename A::value_type>();
    return names_position<A>;
}

/// Some arguments of one call; A are IndexedArguments and ArgumentsAt.
template <class... A>
class SomeGivenValues {
  public:
    SomeGivenValues(CallEffects& effects, const CallSite& call, const A&... arguments)
        : values_{GivenValueAt<typename A::value_type>(effects, call, index_of(arguments), arguments.value)...},
          list_(std::apply([](const auto&... value) { return std::array{value.get()...}; }, values_)) {}
    SomeGivenValues(const SomeGivenValues&) = delete;
    SomeGivenValues& operator=(const SomeGivenValues&) = delete;

    [[nodiscard]] GivenArguments get() const noexcept { return {list_, false}; }

  private:
    std::tuple<GivenValueAt<typename A::value_type>...> values_;
    std::array<GivenArgument, sizeof...(A)> list_;
};

/// All arguments of one call in one object.
class GivenPack {
  public:
    GivenPack(CallEffects&, const CallSite&, const PackedArguments& arguments) noexcept : arguments_(arguments) {}

    [[nodiscard]] GivenArguments get() const noexcept { return {{}, true, &arguments_}; }

  private:
    PackedArguments arguments_;
};

template <class... A>
inline constexpr bool is_packed = false;
template <>
inline constexpr bool is_packed<PackedArguments> = true;

/// Calls `use(given, effects)` with all arguments of a call.
template <class... A, class Use>
auto with_all_arguments(const CallSite& call, const Use& use, A&&... arguments)
    -> decltype(use(GivenArguments(), CallEffects())) {
    CallEffects effects;
    if constexpr (is_packed<std::remove_cvref_t<A>...>) {
        const GivenPack pack(effects, call, arguments...);
        return use(pack.get(), std::move(effects));
    } else if constexpr (require_values<std::remove_cvref_t<A>...>()) {
        const GivenValues<std::remove_cvref_t<A>...> values(effects, call, std::forward<A>(arguments)...);
        return use(values.get(), std::move(effects));
    } else {
        return decltype(use(GivenArguments(), CallEffects()))();
    }
}

} // namespace detail

} // namespace cudag
