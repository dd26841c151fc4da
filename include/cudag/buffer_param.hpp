// BufferParam: the memory of a graph that `Exec::bind` replaces.
#pragma once

#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace cudag {

/// The meaning of a pointer to the end of a BufferParam's memory, in a kernel that also uses the memory itself.
enum class EndPointers : std::uint8_t {
    /// The end of a range [begin, end), replaced together with the beginning. Exceptions: the pointer stays, as the
    /// beginning of other memory, if an allocation contains the address, if a node is known to use memory from the
    /// address on, or if another BufferParam of the same call of `bind` begins there.
    where_clear,
    bound,     ///< always the end of a range: replaced together with the beginning
    not_bound, ///< always the beginning of other memory: never replaced
};

/// The rules of `Exec::bind` for recognising addresses of a BufferParam.
struct BufferParamOptions {
    /// Also binds addresses inside other arguments: in any aligned word of an object, such as the struct of parameters
    /// of a library's kernel, or in an integer. A number that happens to equal an address of the memory is replaced as
    /// well. If false, bind refuses a parameter if such an argument contains an address of its memory.
    bool in_objects = false;
    EndPointers end_pointers = EndPointers::where_clear;
};

namespace detail {

/// A BufferParam without its type.
struct ParamMemory {
    std::uint64_t id;
    std::uintptr_t address;
    std::size_t bytes;
    bool in_objects;
    EndPointers end_pointers;
};

/// Returns a number unique among the BufferParams of this process.
[[nodiscard]] CUDAG_EXPORT std::uint64_t next_param_id() noexcept;
/// Throws GraphError.
[[noreturn]] CUDAG_EXPORT void refuse_param(const char* reason);

} // namespace detail

/// Device memory for nodes, like a buffer's. `Exec::bind` replaces it by other memory in all nodes of the Exec.
///
///     cudag::BufferParam<float> in = b.parameter<float>(n);
///     b.kernel(config, step, in, n);
///     b.memset(in.span().subspan(0, 16), 0.0f);
///     ...
///     exec.bind(in, y); // y: n floats or more
///
/// Bind finds the uses by address, in the parameters given to the nodes when the graph was made, under any name: in
/// built and captured graphs, and in their inner graphs. Updates add and remove no uses. Bind replaces
///   - pointers, spans, copies and fills that begin inside the memory
///   - in a kernel with one of these, a pointer to the end of the memory (see EndPointers)
///   - accesses to the memory declared by `.reads` and `.writes`, if an address of it is used by the same node, a node
///     inside it, or a node of the same captured region
///
/// Bind does not see tables of pointers in memory. It throws UpdateError, and names the node, if a use cannot be
/// replaced:
///   - a node unknown to cudag (an adopted or captured conditional with a driver before CUDA 13.2, or a kind that CUDA
///     has added), unless it declares its memory by `.reads` and `.writes`
///   - an address in an object or an integer, without `in_objects`
///   - a copy, fill or span that begins before the memory and reaches into it
///   - a copy of two or three dimensions, or a copy or fill that begins inside the memory and reaches beyond its end
///   - a declared access to the memory without such an address
///   - a free of the memory, unless the graph allocates it
///
/// One BufferParam may serve many graphs. Nodes keep its original memory, like a buffer's. Move-only. It may be
/// destroyed before or after its graphs and Execs. Threads: const calls may run concurrently.
template <class Element>
class BufferParam : public detail::OwnedMemory<Element> {
  public:
    /// Allocates `count` elements. Launches use them while no other memory is bound. Throws GraphError if `count` is 0,
    /// and like the constructor of DeviceBuffer.
    explicit BufferParam(std::size_t count, BufferParamOptions options = {},
                         SourceLocation location = SourceLocation::current())
        : BufferParam(detail::allocate_device(count, sizeof(Element), location), count, options) {}
    /// Uses the memory of `initial` and keeps it alive. Throws GraphError if `initial` is empty.
    explicit BufferParam(const DeviceBuffer<Element>& initial, BufferParamOptions options = {})
        : BufferParam(initial.owner(), initial.size(), options) {}
    /// Uses the memory of `initial`, which is borrowed. Throws GraphError if `initial` is empty.
    explicit BufferParam(DeviceSpan<Element> initial, BufferParamOptions options = {})
        : BufferParam(std::shared_ptr<void>(std::shared_ptr<void>(), initial.data()), initial.size(), options) {}
    BufferParam(BufferParam&&) noexcept = default;
    BufferParam& operator=(BufferParam&&) noexcept = default;

    /// Returns a view of all elements: a use of the parameter in nodes, which do not keep the memory then.
    [[nodiscard]] DeviceSpan<Element> span() const noexcept { return {this->data(), this->size()}; }

  private:
    friend struct detail::Access;

    BufferParam(std::shared_ptr<void> memory, std::size_t size, BufferParamOptions options)
        : detail::OwnedMemory<Element>(std::move(memory), size), options_(options) {
        if (this->data() == nullptr || size == 0)
            detail::refuse_param("it has no memory; a BufferParam needs one element or more");
    }

    BufferParamOptions options_;
    std::uint64_t id_ = detail::next_param_id();
};

template <class Element>
detail::ParamMemory detail::Access::memory(const BufferParam<Element>& param) {
    if (param.empty()) [[unlikely]]
        refuse_param("it was moved from");
    return {param.id_, reinterpret_cast<std::uintptr_t>(param.data()), param.size_bytes(), param.options_.in_objects,
            param.options_.end_pointers};
}

namespace detail {

template <class Element>
inline constexpr bool is_device_buffer<BufferParam<Element>> = true;

/// Fails to compile if Memory cannot be bound to a BufferParam<Element>.
template <class Element, class Memory>
constexpr bool require_memory() {
    constexpr bool is_operand = require_operand<const Memory&>();
    if constexpr (is_operand) {
        Owners* const owners = nullptr;
        using Operand = decltype(to_operand(std::declval<const Memory&>(), 0, *owners));
        static_assert(Operand::side == Side::device, "cudag: bind takes device memory: host memory is copied by nodes");
        static_assert(std::is_same_v<typename Operand::element_type, Element>,
                      "cudag: bind takes memory of the parameter's elements, which are not const");
        return Operand::side == Side::device && std::is_same_v<typename Operand::element_type, Element>;
    }
    return false;
}

} // namespace detail

template <class Element>
BufferParam(const DeviceBuffer<Element>&, BufferParamOptions = {}) -> BufferParam<Element>;
template <class Element>
BufferParam(DeviceSpan<Element>, BufferParamOptions = {}) -> BufferParam<Element>;

/// A BufferParam and the memory that an Exec uses in its place. A list of these binds several parameters at once:
///
///     cudag::BufferParam<float> in = b.parameter<float>(n);
///     cudag::BufferParam<float> out = b.parameter<float>(n);
///     ...
///     exec.bind({{in, x}, {out, y}});
class BufferBinding {
  public:
    /// Pairs `param` with `memory`, which bind requires to be as long as the parameter or longer. A DeviceBuffer or a
    /// shared_ptr is kept alive, a DeviceSpan is borrowed. Throws GraphError if `param` was moved from.
    template <class Element, class Memory>
    BufferBinding(const BufferParam<Element>& param, const Memory& memory) : param_(detail::Access::memory(param)) {
        if constexpr (detail::require_memory<Element, Memory>()) {
            const auto operand = detail::to_operand(memory, 0, owners_);
            address_ = reinterpret_cast<std::uintptr_t>(operand.data);
            bytes_ = operand.size * sizeof(Element);
        }
    }

    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Returns the shared owner of the memory; null if the memory is borrowed.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept {
        return owners_.empty() ? nullptr : owners_.front().object;
    }

  private:
    friend struct detail::Access;

    detail::ParamMemory param_;
    std::uintptr_t address_ = 0;
    std::size_t bytes_ = 0;
    detail::Owners owners_;
};

inline const detail::ParamMemory& detail::Access::memory(const BufferBinding& binding) noexcept {
    return binding.param_;
}

/// One use of a BufferParam's memory by a node.
///
///     cudag::BufferParam<float> in = b.parameter<float>(n);
///     ...
///     for (const cudag::BufferUse& use : graph.uses(in))
///         std::puts(to_string(use).c_str());
struct BufferUse {
    Node node;
    /// The number of the operand with the address: the position of a kernel's argument, counted from 0; 0 for the
    /// destination of a copy and 1 for its source; 0 for a fill.
    std::size_t argument;
    /// The offset of the address in the parameter's memory, in bytes; the size of the memory for a pointer to its end.
    std::size_t offset;
    friend bool operator==(const BufferUse&, const BufferUse&) = default;
};

/// Describes a use: "kernel \"scale\" at a.cpp:12: argument 1 at offset 64".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const BufferUse& use);

} // namespace cudag
