// BufferParam: memory of a graph in place of which its execs can be told to use other memory.
#pragma once

#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
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

/// What a pointer to the end of a BufferParam's memory is, in a kernel that uses the memory, too.
enum class EndPointers : std::uint8_t {
    /// The end of a range [begin, end), and bound with its beginning; but where an allocation lies at that address, or
    /// a node is known to use memory from there on, or another parameter of the call begins there, it is a pointer to
    /// that other memory, and not bound.
    where_clear,
    bound,     ///< the end of a range, whatever else is there
    not_bound, ///< the beginning of other memory
};

struct BufferParamOptions {
    /// Whether an address counts that stands in an argument with other things: in any aligned word of an object, as
    /// libraries' kernels have them, or in an integer. A number that happens to look so counts, too. By default bind
    /// refuses a parameter with such an address.
    bool in_objects = false;
    EndPointers end_pointers = EndPointers::where_clear;
};

namespace detail {

/// What a BufferParam is, without its type.
struct ParamMemory {
    std::uint64_t id;
    std::uintptr_t address;
    std::size_t bytes;
    bool in_objects;
    EndPointers end_pointers;
};

[[nodiscard]] CUDAG_EXPORT std::uint64_t next_param_id() noexcept;
[[noreturn]] CUDAG_EXPORT void refuse_param(const char* reason);

} // namespace detail

/// Device memory that nodes use as any other, and that `Exec::bind` replaces in all of them by other memory:
///
///     cudag::BufferParam<float> in = b.parameter<float>(n);
///     b.kernel(config, step, in, n);
///     b.memset(in.span().subspan(0, 16), 0.0f);
///     ...
///     exec.bind(in, y); // y: n floats or more
///
/// Which nodes those are is seen from the addresses that they were made with, in any graph, built or captured, and in
/// the graphs inside: so all uses of the memory count, by whatever name. Uses are pointers, spans, copies and fills
/// that begin inside it, and in a kernel with one of these a pointer to its end (see EndPointers). What a node declares
/// by `.reads` and `.writes` inside the memory moves with its uses, those inside it, or those of its captured region.
/// Bind refuses a parameter, and names the node, if there is a use that it cannot replace:
///   - a node that cudag does not know: an adopted or captured conditional, or a kind that CUDA has added, unless it
///     declares what it uses by `.reads` and `.writes`
///   - an address in an object or an integer, without `in_objects`
///   - a copy, a fill or a span that begins before the memory and reaches into it
///   - a node that only declares that it uses the memory, and has no address of it
///   - a node that frees the memory, which the graph does not allocate
/// Tables of pointers in memory are not seen. One BufferParam may serve many graphs. It is a buffer: nodes keep the
/// memory that it was made with. Move-only; it may go before or after graphs and Execs. Threads: const calls may run at
/// once.
template <class Element>
class BufferParam : public detail::OwnedMemory<Element> {
  public:
    /// `count` elements of its own, which launches use while nothing else is bound. Throws as DeviceBuffer does.
    explicit BufferParam(std::size_t count, BufferParamOptions options = {},
                         SourceLocation location = SourceLocation::current())
        : BufferParam(detail::allocate_device(count, sizeof(Element), location), count, options) {}
    /// The memory of `initial`, which is kept.
    explicit BufferParam(const DeviceBuffer<Element>& initial, BufferParamOptions options = {})
        : BufferParam(initial.owner(), initial.size(), options) {}
    /// The memory at `initial`, which is borrowed.
    explicit BufferParam(DeviceSpan<Element> initial, BufferParamOptions options = {})
        : BufferParam(std::shared_ptr<void>(std::shared_ptr<void>(), initial.data()), initial.size(), options) {}
    BufferParam(BufferParam&&) noexcept = default;
    BufferParam& operator=(BufferParam&&) noexcept = default;

    [[nodiscard]] DeviceSpan<Element> span() const noexcept { return {this->data(), this->size()}; }

    /// What Execs know it by. Throws GraphError if it was moved from.
    [[nodiscard]] detail::ParamMemory memory() const {
        if (this->empty()) [[unlikely]]
            detail::refuse_param("it was moved from");
        return {id_, reinterpret_cast<std::uintptr_t>(this->data()), this->size_bytes(), options_.in_objects,
                options_.end_pointers};
    }

  private:
    BufferParam(std::shared_ptr<void> memory, std::size_t size, BufferParamOptions options)
        : detail::OwnedMemory<Element>(std::move(memory), size), options_(options) {
        if (this->data() == nullptr || size == 0)
            detail::refuse_param("it has no memory; a BufferParam needs one element or more");
    }

    BufferParamOptions options_;
    std::uint64_t id_ = detail::next_param_id();
};

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

/// A BufferParam, and the memory that an Exec is to use in its place: for `exec.bind({{in, x}, {out, y}})`.
class BufferBinding {
  public:
    /// `memory`, as long as the parameter's or longer: a DeviceBuffer or a shared_ptr, which is kept, or a DeviceSpan.
    template <class Element, class Memory>
    BufferBinding(const BufferParam<Element>& param, const Memory& memory) : param_(param.memory()) {
        if constexpr (detail::require_memory<Element, Memory>()) {
            const auto operand = detail::to_operand(memory, 0, owners_);
            address_ = reinterpret_cast<std::uintptr_t>(operand.data);
            bytes_ = operand.size * sizeof(Element);
        }
    }

    [[nodiscard]] const detail::ParamMemory& param() const noexcept { return param_; }
    [[nodiscard]] std::uintptr_t address() const noexcept { return address_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// What keeps the memory alive; null if it is borrowed.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept {
        return owners_.empty() ? nullptr : owners_.front().object;
    }

  private:
    detail::ParamMemory param_;
    std::uintptr_t address_ = 0;
    std::size_t bytes_ = 0;
    detail::Owners owners_;
};

/// One use of a BufferParam's memory.
struct BufferUse {
    Node node;
    /// Which argument of a kernel; of a copy 0 is the destination and 1 the source; 0 of a fill.
    std::size_t argument;
    std::size_t offset; ///< of what is used, in bytes from the beginning of the parameter: its length for its end
    friend bool operator==(const BufferUse&, const BufferUse&) = default;
};

/// "kernel \"scale\" at a.cpp:12: argument 1 at offset 64"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const BufferUse& use);

} // namespace cudag
