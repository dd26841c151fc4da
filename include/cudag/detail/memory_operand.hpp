// The operands of memory operations: one number in memory.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/memory_operation.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace cudag::detail {

template <class Memory>
inline constexpr bool is_place = std::is_pointer_v<std::remove_cvref_t<Memory>>;

/// The type of the numbers in such memory, perhaps const; void for other arguments.
template <class Memory>
auto number_type() {
    if constexpr (is_place<Memory>)
        return std::type_identity<std::remove_pointer_t<std::remove_cvref_t<Memory>>>();
    else if constexpr (OperandArgument<Memory>)
        return std::type_identity<typename decltype(to_operand(std::declval<std::remove_reference_t<Memory>&>(), 0U,
                                                               std::declval<Owners&>()))::element_type>();
    else
        return std::type_identity<void>();
}
template <class Memory>
using NumberIn = typename decltype(number_type<Memory>())::type;

/// Whether memory operations take these operands; fails to compile with a sentence otherwise.
template <class Memory, class Value, bool writes>
constexpr bool require_number() {
    using Number = NumberIn<Memory>;
    constexpr bool is_number = std::integral<Number> && !std::same_as<std::remove_cv_t<Number>, bool> &&
                               (sizeof(std::conditional_t<std::is_void_v<Number>, int, Number>) == 4 ||
                                sizeof(std::conditional_t<std::is_void_v<Number>, int, Number>) == 8);
    static_assert(is_number,
                  "cudag: a memory operation takes memory of integers of 4 or 8 bytes: a pointer to one, or a "
                  "buffer or span of one");
    static_assert(!writes || !std::is_const_v<Number>, "cudag: a write of a value needs memory that is not const");
    constexpr bool is_value = std::convertible_to<Value, std::remove_cv_t<Number>>;
    static_assert(!is_number || is_value, "cudag: the value of a memory operation is a number of the memory's type");
    return is_number && is_value && !(writes && std::is_const_v<Number>);
}

/// Throws GraphError unless `count` is 1.
CUDAG_EXPORT void require_one_number(std::size_t count);

/// The address of a pointer, or of the one number of a range. Its owner, if any, goes into `owners`.
template <class Memory>
auto* place_of(Memory& memory, Owners& owners) {
    if constexpr (is_place<Memory>) {
        return memory;
    } else {
        const auto operand = to_operand(memory, 0, owners);
        require_one_number(operand.size);
        return operand.data;
    }
}

} // namespace cudag::detail
