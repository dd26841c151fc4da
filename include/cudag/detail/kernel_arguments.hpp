// The arguments of one typed kernel call, converted and checked.
#pragma once

#include <cudag/detail/argument.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/launch_config.hpp>

#include <array>
#include <cstddef>
#include <new>
#include <tuple>
#include <utility>

namespace cudag {

/// One argument of a kernel by position: made by `arg<I>(value)`.
template <std::size_t I, class T>
struct IndexedArgument {
    static constexpr std::size_t index = I;
    using value_type = std::remove_cvref_t<T>;
    T&& value;
};

/// Names parameter I of a kernel in an update: `exec.update(node, cudag::arg<1>(3.0f))`. Refers to `value`, so it must
/// be used within the expression that makes it.
template <std::size_t I, class T>
[[nodiscard]] IndexedArgument<I, T> arg(T&& value) noexcept {
    return {std::forward<T>(value)};
}

namespace detail {

template <class A>
inline constexpr bool is_indexed = false;
template <std::size_t I, class T>
inline constexpr bool is_indexed<IndexedArgument<I, T>> = true;

template <std::size_t Position, class A, class P>
constexpr void require_argument();

/// What is wrong with in(x), out(x), ... for a parameter of type P.
template <std::size_t Position, class A, class P>
constexpr void refuse_declared() {
    using T = typename A::value_type;
    if constexpr (!KernelArgument<T, P>) {
        require_argument<Position, T, P>();
    } else {
        static_assert(RangeBecomes<T, P>, "cudag: in(), out(), inout(), atomic() and disjoint() take memory that knows "
                                          "its length: a DeviceBuffer, a DeviceSpan or a shared_ptr to a buffer");
        static_assert(!RangeBecomes<T, P> || A::mode == AccessMode::read || may_write<P>(),
                      "cudag: the kernel cannot write this: its parameter points to const; say in(memory), or nothing");
    }
}

/// Fails to compile, with the types in the compiler's notes, if argument `Position` of type A does not fit P.
template <std::size_t Position, class A, class P>
constexpr void require_argument() {
    static_assert(!std::is_reference_v<P>, "cudag: a kernel parameter cannot be a reference");
    if constexpr (!KernelArgument<A, P>) {
        constexpr bool is_alloc = is_alloc_node<A>;
        constexpr bool is_array = std::is_array_v<A>;
        constexpr bool is_host = !is_array && !is_device_span<A> && HostMemory<A> && !std::is_class_v<P>;
        constexpr bool is_const = std::is_pointer_v<P> && KernelArgument<A, const std::remove_pointer_t<P>*>;
        constexpr bool loses = Number<A> && Number<P>;
        constexpr bool other =
            std::is_reference_v<P> || !(is_alloc || is_array || is_host || is_const || loses || AnyHandle<A> ||
                                        is_unique_ptr<A> || is_indexed<A> || is_declared<A>);
        if constexpr (is_declared<A>) refuse_declared<Position, A, P>();
        static_assert(!is_alloc, "cudag: an AllocNode is no memory itself: pass its span()");
        static_assert(is_alloc || !AnyHandle<A>, "cudag: a node is no kernel argument; node.on_device() is one for a "
                                                 "kernel that changes the node");
        static_assert(!is_array, "cudag: a host array is not readable on the device; copy it to a DeviceBuffer");
        static_assert(!is_host, "cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or use a "
                                "PinnedBuffer");
        static_assert(!is_unique_ptr<A>, "cudag: a unique_ptr cannot be kept by a graph: pass get(), or a shared_ptr");
        static_assert(!is_indexed<A>,
                      "cudag: arg<I>(value) is for updates: kernel and launch take all arguments in order");
        static_assert(!is_const, "cudag: a pointer to const cannot become one to what the kernel may write");
        static_assert(!loses,
                      "cudag: a number must not lose by becoming the parameter's type: write it in that type, such "
                      "as 2.0f for a float");
        static_assert(!other, "cudag: kernel argument cannot become the kernel's parameter type; see the types below");
    }
}

/// The values of all parameters P... of one call, in one block as the signature lays it out.
template <class... P>
class KernelArguments {
  public:
    template <class... A>
    KernelArguments(CallEffects& effects, const CallSite& call, A&&... arguments) {
        fill(std::index_sequence_for<P...>(), effects, call, std::forward<A>(arguments)...);
    }

    KernelArguments(const KernelArguments&) = delete;
    KernelArguments& operator=(const KernelArguments&) = delete;

    [[nodiscard]] void* const* pointers() const noexcept { return pointers_.data(); }
    [[nodiscard]] const std::byte* block() const noexcept { return block_.data(); }

  private:
    template <std::size_t... I, class... A>
    void fill(std::index_sequence<I...>, [[maybe_unused]] CallEffects& effects, [[maybe_unused]] const CallSite& call,
              A&&... arguments) {
        ((pointers_[I] = new (block_.data() + SignatureOf<P...>::layout.parameters[I].offset)
              P(to_parameter<P>(std::forward<A>(arguments), effects, ArgumentSite{call, I}))),
         ...);
    }

    alignas(std::max_align_t) alignas(P...) std::array<std::byte, SignatureOf<P...>::layout.bytes + 1> block_;
    std::array<void*, sizeof...(P) + 1> pointers_; // never of size 0
};

/// The values of some parameters; the others stay null.
template <class Parameters, class Given>
class SomeKernelArguments;

template <class... P, std::size_t... I, class... T>
class SomeKernelArguments<std::tuple<P...>, std::tuple<IndexedArgument<I, T>...>> {
  public:
    SomeKernelArguments([[maybe_unused]] CallEffects& effects, [[maybe_unused]] const CallSite& call,
                        const IndexedArgument<I, T>&... arguments)
        : values_{to_parameter<std::tuple_element_t<I, std::tuple<P...>>>(std::forward<T>(arguments.value), effects,
                                                                          ArgumentSite{call, I})...} {
        point(std::index_sequence_for<T...>());
    }

    SomeKernelArguments(const SomeKernelArguments&) = delete;
    SomeKernelArguments& operator=(const SomeKernelArguments&) = delete;

    [[nodiscard]] void* const* pointers() const noexcept { return pointers_.data(); }
    [[nodiscard]] const std::byte* block() const noexcept { return nullptr; }

  private:
    template <std::size_t... N>
    void point(std::index_sequence<N...>) noexcept {
        ((pointers_[I] = &std::get<N>(values_)), ...);
    }

    std::tuple<std::tuple_element_t<I, std::tuple<P...>>...> values_;
    std::array<void*, sizeof...(P) + 1> pointers_{};
};

/// Stands for a value of T where only the type is deduced.
template <class T>
inline constexpr T* no_value = nullptr;

template <class... A>
inline constexpr bool starts_with_config = false;
template <class First, class... Rest>
inline constexpr bool starts_with_config<First, Rest...> = std::is_same_v<std::remove_cvref_t<First>, LaunchConfig>;

/// Checks number and types of a complete argument list, with one readable error each.
template <class... P, class... A>
constexpr bool require_arguments(std::tuple<P...>*, std::tuple<A...>*) {
    constexpr bool same_count = sizeof...(P) == sizeof...(A);
    static_assert(same_count, "cudag: the number of arguments is not the number of the kernel's parameters");
    if constexpr (same_count) {
        []<std::size_t... I>(std::index_sequence<I...>) {
            (require_argument<I, A, P>(), ...);
        }(std::index_sequence_for<P...>());
        return (KernelArgument<A, P> && ...);
    } else {
        return false;
    }
}

template <class Parameters, class A>
constexpr bool require_one() {
    static_assert(is_indexed<A>, "cudag: an update takes all arguments, or arg<I>(value) for each that changes");
    if constexpr (is_indexed<A>) {
        constexpr bool exists = A::index < std::tuple_size_v<Parameters>;
        static_assert(exists, "cudag: arg<I>: the kernel has no parameter I");
        if constexpr (exists) {
            using P = std::tuple_element_t<A::index, Parameters>;
            require_argument<A::index, typename A::value_type, P>();
            return KernelArgument<typename A::value_type, P>;
        }
    }
    return false;
}

template <class A, class B>
inline constexpr bool same_index = false;
template <std::size_t I, class T, class U>
inline constexpr bool same_index<IndexedArgument<I, T>, IndexedArgument<I, U>> = true;

template <class A, class... All>
inline constexpr int times_named = (static_cast<int>(same_index<A, All>) + ... + 0);

/// The same for arguments by position.
template <class Parameters, class... A>
constexpr bool require_indexed(Parameters*, std::tuple<A...>*) {
    static_assert(((times_named<A, A...> <= 1) && ...), "cudag: arg<I> names a parameter twice");
    return (static_cast<int>(require_one<Parameters, A>()) & ... & 1) != 0;
}

} // namespace detail

} // namespace cudag
