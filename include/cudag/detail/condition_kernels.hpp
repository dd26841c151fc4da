// The kernels of cudag for setting conditions.
#pragma once

#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/runtime.hpp>
#include <cudag/function.hpp>
#include <cudag/source_location.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// The new value of a condition: one number in device memory, in a DeviceScalar, a DeviceBuffer, a span.
template <class Memory>
concept ConditionValue = requires(const Memory& memory) {
    { *memory.data() } -> std::convertible_to<unsigned>;
    { memory.size() } -> std::convertible_to<std::size_t>;
    requires std::same_as<std::remove_cvref_t<decltype(*memory.data())>, unsigned> ||
                 std::same_as<std::remove_cvref_t<decltype(*memory.data())>, int>;
};

/// The kernel parameter for an argument of `GraphBuilder::set`.
template <class Argument>
struct SetParameter {
    using type = const std::remove_cvref_t<decltype(*std::declval<const Argument&>().data())>*;
};
template <>
struct SetParameter<Condition> {
    using type = Condition;
};

inline constexpr std::size_t most_conditions = 4; ///< the maximum for one node

/// True for a list of conditions, each followed by its value.
template <class... Argument>
struct IsConditionPairs : std::bool_constant<sizeof...(Argument) == 0> {};
template <class Pointer, class... Argument>
struct IsConditionPairs<Condition, Pointer, Argument...>
    : std::bool_constant<ConditionValue<Pointer> && IsConditionPairs<Argument...>::value> {};

/// Fails to compile unless the types are up to four conditions, each followed by its value.
template <class... Argument>
constexpr bool require_condition_pairs() {
    constexpr bool are_pairs = IsConditionPairs<Argument...>::value && sizeof...(Argument) <= 2 * most_conditions;
    static_assert(are_pairs,
                  "cudag: set(condition, value, ...) takes up to four conditions, each with its value after it: a "
                  "DeviceScalar, DeviceBuffer or DeviceSpan of one unsigned or int");
    return are_pairs;
}

/// Returns the kernel `__global__ void (Condition, const unsigned*, ...)` for `count` conditions. Throws GraphError
/// before CUDA 12.8.
[[nodiscard]] CUDAG_EXPORT const Function& set_conditions_function(std::size_t count, const SourceLocation& where);
/// Returns the kernel `__global__ void (Condition, unsigned* turns, unsigned times)`. It counts a turn, sets the
/// condition to 1 if turns remain, else to 0, and begins again after the last turn. Throws GraphError before CUDA 12.8.
[[nodiscard]] CUDAG_EXPORT const Function& count_turns_function(const SourceLocation& where);

/// Throws GraphError.
[[noreturn]] CUDAG_EXPORT void refuse_turns(bool is_negative, const SourceLocation& where);
/// Returns `times` as a number of turns. Throws GraphError if `times` is negative or too large.
template <std::integral Number>
[[nodiscard]] unsigned turn_count(Number times, const SourceLocation& where) {
    if (!std::in_range<unsigned>(+times)) refuse_turns(times < Number(), where);
    return static_cast<unsigned>(times);
}

/// Throws GraphError if a condition's value is not one number.
CUDAG_EXPORT void require_one(std::size_t count, const SourceLocation& where);
template <class Argument>
void require_one_value(const Argument& argument, const SourceLocation& where) {
    if constexpr (!std::same_as<Argument, Condition>) require_one(argument.size(), where);
}

/// The kernels for the CPU runtime. For CUDA, cudag has them as PTX text.
struct ConditionKernels {
    using Handle = Condition;
    using Pointer = const unsigned*;

    static void set_handle(cudaGraphConditionalHandle handle, unsigned value) { set_condition_on_cpu(handle, value); }
    static void count(Handle more, unsigned* turns, unsigned times) {
        *turns = *turns + 1 < times ? *turns + 1 : 0;
        set_handle(more.native(), *turns != 0 ? 1U : 0U);
    }
    static void set1(Handle a, Pointer x) { set_handle(a.native(), *x); }
    static void set2(Handle a, Pointer x, Handle b, Pointer y) { set1(a, x), set1(b, y); }
    static void set3(Handle a, Pointer x, Handle b, Pointer y, Handle c, Pointer z) { set2(a, x, b, y), set1(c, z); }
    static void set4(Handle a, Pointer x, Handle b, Pointer y, Handle c, Pointer z, Handle d, Pointer w) {
        set3(a, x, b, y, c, z), set1(d, w);
    }
};

/// Registers the kernels with the CPU runtime; does nothing with CUDA.
inline void know_condition_kernels() {
    if constexpr (on_cpu_runtime) {
        know_library_kernel("cudag_set_condition", ConditionKernels::set_handle);
        know_library_kernel("cudag_count_turns", ConditionKernels::count);
        know_library_kernel("cudag_set_conditions_1", ConditionKernels::set1);
        know_library_kernel("cudag_set_conditions_2", ConditionKernels::set2);
        know_library_kernel("cudag_set_conditions_3", ConditionKernels::set3);
        know_library_kernel("cudag_set_conditions_4", ConditionKernels::set4);
    }
}

} // namespace cudag::detail
