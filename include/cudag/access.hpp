// in, out, inout, atomic, disjoint: declared accesses of kernels to the memory of their arguments.
#pragma once

#include <cudag/detail/memory_block.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace cudag {

/// The number of the operand with an access to memory: the position of a kernel's argument, counted from 0; 0 for the
/// destination of a copy and 1 for its source; 0 for a fill; `whole_node` for memory declared by `.reads` and
/// `.writes`.
using MemoryArgument = std::uint32_t;
inline constexpr MemoryArgument whole_node = 0xffff'ffff;

namespace detail {

/// An argument together with the declared access to its memory.
template <AccessMode Mode, class Element>
struct DeclaredArgument {
    static constexpr AccessMode mode = Mode;
    using value_type = std::remove_cvref_t<Element>;
    Element&& value;
};

} // namespace detail

// The functions below declare the access of a kernel to an argument: a buffer, a span, a shared_ptr to a buffer, or a
// DynamicParam of a span. Without them, a kernel reads memory passed as a pointer or span to const, and reads and
// writes other memory. Each result refers to `memory`: use it within the same expression.

/// Declares a read: the kernel does not write `memory`, although its parameter would allow it.
///
///     b.kernel(config, scale, cudag::inout(x), 2.0f, n);
///     b.kernel(config, add, cudag::in(x), cudag::in(x), cudag::out(y), n);
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::read, Element> in(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// Declares a write of `memory` by the kernel. For the order of nodes, this equals `inout`.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::write, Element> out(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// Declares a read and write of `memory` by the kernel.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::write, Element> inout(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// Declares an atomic access: the kernel changes `memory` by atomic operations only, in any order. Nodes with this
/// declaration need no order among each other.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::atomic, Element> atomic(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// Declares a disjoint access: the kernel touches other elements of `memory` than all other nodes with this
/// declaration. These nodes need no order among each other.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::disjoint, Element> disjoint(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

} // namespace cudag
