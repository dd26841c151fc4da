// Memory: the calls of GraphBuilder for replaceable memory and for graph memory nodes.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <type_traits>

namespace cudag::detail {

/// The calls for memory that a graph uses: parameters to bind, alloc nodes and free nodes.
///
///     auto scratch = b.alloc<float>(1024);
///     auto work = b.kernel(config, step, scratch.span(), 1024).after(scratch);
///     b.free(scratch).after(work);
///     cudag::BufferParam<float> input = b.parameter<float>(1024);
///     b.kernel(config, step, input, 1024); // exec.bind(input, x) replaces it
template <class Self>
class MemoryCalls {
  public:
    /// Allocates memory of `count` elements that `Exec::bind` can later replace by other memory. Nodes use the result
    /// as any buffer. Adds no node. Throws like the constructor of BufferParam.
    template <class Element = NoElement>
    [[nodiscard]] BufferParam<Element> parameter( // cudag: parameter<float>(count); for existing memory, BufferParam(x)
        std::size_t count, BufferParamOptions options = {}, SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, NoElement>,
                      "cudag: parameter needs the type of the elements: parameter<float>(count)");
        return Access::place(self(), location,
                             [&](GraphState&) { return BufferParam<Element>(count, options, location); });
    }

    /// Adds an alloc node for `count` elements of graph memory: each launch allocates them, and `.span()` of the handle
    /// returns them. A graph with alloc or free nodes (graph memory nodes) cannot be cloned, and has one Exec at a
    /// time.
    /// Throws GraphError if
    /// - `count` is 0 or too large,
    /// - the device does not exist, a peer cannot access it, or CUDA refuses the allocation,
    /// - the edges so far close a cycle,
    /// - this is the body of a conditional.
    template <class Element = NoElement>
    AllocNode<Element> alloc(std::size_t count, const AllocOptions& options = {},
                             SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, NoElement>,
                      "cudag: alloc needs the type of the elements: alloc<float>(count)");
        constexpr bool plain = std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>;
        static_assert(plain, "cudag: graph memory holds trivially copyable, non-const elements");
        return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                    return add_alloc(graph, count, sizeof(Element), options, location);
                })};
    }

    /// Adds a node that frees the memory of an alloc node: of this graph, or of another graph that runs before and does
    /// not free the memory itself. All uses of the memory must come before this node; `build()` checks this. Add copies
    /// and fills of the memory before this call: CUDA refuses the memory afterwards. Throws GraphError if the memory is
    /// already freed, and in the body of a conditional.
    template <class Element>
    FreeNode free( // cudag: free(alloc) takes an alloc node or its span()
        const AllocNode<Element>& alloc, SourceLocation location = SourceLocation::current()) {
        return {Passkey(),
                Access::place(self(), location, [&](GraphState& graph) { return add_free(graph, alloc, location); })};
    }

    /// Adds a node that frees the memory of an alloc node of this graph, given as its whole `range`. Throws GraphError
    /// as `free(alloc)` does, and if no alloc node of this graph has exactly this range.
    template <class Element>
    FreeNode free(DeviceSpan<Element> range, SourceLocation location = SourceLocation::current()) {
        const Allocation memory{const_cast<std::remove_const_t<Element>*>(range.data()), range.size_bytes()};
        return {Passkey(),
                Access::place(self(), location, [&](GraphState& graph) { return add_free(graph, memory, location); })};
    }

  private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
