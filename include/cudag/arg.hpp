// arg: names one parameter of a kernel, for an update of only this argument.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cudag {

/// One argument with a position known at compile time: made by `arg<I>(value)`.
template <std::size_t Index, class Value>
struct IndexedArgument {
    static constexpr std::size_t index = Index;
    using value_type = std::remove_cvref_t<Value>;
    Value&& value;
};

/// Names parameter `Index` of a kernel in an update; parameters are counted from 0.
///
///     auto node = graph.find_one(scale);
///     exec.update(node, cudag::arg<1>(3.0f)); // another factor; x and n stay
///     exec.update(node, cudag::arg<0>(y), cudag::arg<1>(2.0f));
///
/// Refers to `value`: use the result within the same expression.
template <std::size_t Index, class Value>
[[nodiscard]] IndexedArgument<Index, Value> arg(Value&& value) noexcept {
    return {std::forward<Value>(value)};
}

/// One argument with a position known at run time: made by `arg(index, value)`.
template <class Value>
struct ArgumentAt {
    using value_type = std::remove_cvref_t<Value>;
    std::size_t index;
    Value&& value;
};

/// Names parameter `index` of a kernel of unknown parameter types in an update of its FunctionNode.
///
///     auto node = graph.find_one("scale").as<cudag::FunctionNode>();
///     exec.update(node, cudag::arg(1, 3.0f));
///
/// A span of bytes stands for the bytes of the value. Refers to `value`: use the result within the same expression.
template <class Value>
[[nodiscard]] ArgumentAt<Value> arg(std::size_t index, Value&& value) noexcept {
    return {index, std::forward<Value>(value)};
}

} // namespace cudag
