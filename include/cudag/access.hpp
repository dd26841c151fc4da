// in, out, inout, atomic, disjoint: what a kernel does to memory that it is given.
#pragma once

#include <cudag/detail/memory_region.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace cudag {

/// What of a node uses memory: an argument of a kernel, counted from 0; of a copy 0 is the destination and 1 the
/// source; 0 of a fill; or `whole_node` of what `.reads` and `.writes` say.
using MemoryArgument = std::uint32_t;
inline constexpr MemoryArgument whole_node = 0xffff'ffff;

namespace detail {

/// An argument, and what the kernel does to its memory.
template <AccessMode Mode, class Element>
struct DeclaredArgument {
    static constexpr AccessMode mode = Mode;
    using value_type = std::remove_cvref_t<Element>;
    Element&& value;
};

} // namespace detail

// For arguments of kernels that are buffers, spans or shared_ptrs to buffers. Without one of these, memory is read
// where the parameter is a pointer or a span to const, else written, too. Each refers to `memory`, so it must be used
// within the expression that makes it.

/// The kernel only reads it, though its parameter would let it write.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::read, Element> in(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// The kernel writes it. To be ordered, that is the same as `inout`.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::write, Element> out(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// The kernel reads and writes it.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::write, Element> inout(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// The kernel changes it by atomic operations alone, in whatever order: it need not be ordered with others that do.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::atomic, Element> atomic(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

/// The kernel touches other elements of it than all other nodes that say so, with which it need not be ordered.
template <class Element>
[[nodiscard]] detail::DeclaredArgument<detail::AccessMode::disjoint, Element> disjoint(Element&& memory) noexcept {
    return {std::forward<Element>(memory)};
}

} // namespace cudag
