// The operands of memcpy and memset: ranges of memory with a side, a length and an owner.
#pragma once

#include <cudag/detail/argument.hpp>
#include <cudag/side.hpp>

#include <driver_types.h>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace cudag {
template <class Element>
class DeviceScalar;
} // namespace cudag

namespace cudag::detail {

/// One operand: `size` elements at `data`, on one side.
template <class Element, Side OnSide>
struct Operand {
    using element_type = Element;
    static constexpr Side side = OnSide;
    Element* data;
    std::size_t size;
};

template <class Memory>
inline constexpr bool is_device_buffer = false;
template <class Element>
inline constexpr bool is_device_buffer<DeviceBuffer<Element>> = true;
template <class Element>
inline constexpr bool is_device_buffer<DeviceScalar<Element>> = true;

template <class Memory>
inline constexpr bool is_span = false;
template <class Element, std::size_t Extent>
inline constexpr bool is_span<std::span<Element, Extent>> = true;

/// A contiguous range of host memory, of known size.
template <class Memory>
concept HostRange = !is_device_span<std::remove_cv_t<Memory>> && !is_device_buffer<std::remove_cv_t<Memory>> &&
                    requires(Memory& range) {
                        { std::data(range) } -> std::convertible_to<const volatile void*>;
                        { std::size(range) } -> std::convertible_to<std::size_t>;
                    };

template <class Memory>
concept MemoryRange =
    is_device_span<std::remove_cv_t<Memory>> || is_device_buffer<std::remove_cv_t<Memory>> || HostRange<Memory>;

/// An operand of memcpy or memset, as deduced by a forwarding reference: `Memory` is an lvalue reference for lvalues.
template <class Memory>
concept OperandArgument = MemoryRange<std::remove_reference_t<Memory>> ||
                          (is_shared_ptr<std::remove_cvref_t<Memory>> && requires(Memory& range) {
                              requires MemoryRange<typename std::remove_cvref_t<Memory>::element_type>;
                          });

/// True if the memory outlives the call; false for a temporary vector or array.
template <class Memory>
inline constexpr bool outlives_call =
    std::is_lvalue_reference_v<Memory> || Buffer<std::remove_cvref_t<Memory>> ||
    is_shared_ptr<std::remove_cvref_t<Memory>> || is_span<std::remove_cvref_t<Memory>> ||
    is_device_span<std::remove_cvref_t<Memory>>;

/// Throws GraphError.
[[noreturn]] CUDAG_EXPORT void refuse_null_operand();

/// Converts `range` to an operand. Its owner, if any, goes into `owners` under `argument`. Throws GraphError for a null
/// shared_ptr.
template <class Memory>
auto to_operand(Memory& range, std::uint32_t argument, Owners& owners) {
    using Range = std::remove_cv_t<Memory>;
    if constexpr (is_shared_ptr<Range>) {
        if (!range) refuse_null_operand();
        if constexpr (!Buffer<typename Range::element_type>) keep(owners, argument, any_owner(range));
        return to_operand(*range, argument, owners);
    } else if constexpr (is_device_span<Range>) {
        return Operand<typename Range::element_type, Side::device>{range.data(), range.size()};
    } else {
        if constexpr (Buffer<Range>) keep(owners, argument, range.owner());
        using Element = std::remove_pointer_t<decltype(std::data(range))>;
        return Operand < Element,
               is_device_buffer<Range> ? Side::device : Side::host > {std::data(range), std::size(range)};
    }
}

/// A 1D copy without its types. Sizes are in elements of `element_bytes` bytes.
struct CopyParams {
    void* destination;
    const void* source;
    std::size_t destination_size;
    std::size_t source_size;
    std::size_t element_bytes;
    cudaMemcpyKind kind;
};

/// A fill without its types: `height` rows of `size` elements. The elements are CUDA's, of 1, 2 or 4 bytes; `value`
/// holds the bits of one.
struct SetParams {
    void* destination;
    std::size_t size;
    unsigned element_bytes;
    unsigned value;
    std::size_t height = 1;
    std::size_t pitch = 0; ///< in bytes; without meaning for one row
    std::size_t parts = 1; ///< the number of CUDA's elements in one of the user's
};

/// Fails to compile if Memory is no operand, or a temporary.
template <class Memory>
constexpr bool require_operand() {
    constexpr bool is_alloc = is_alloc_node<std::remove_cvref_t<Memory>>;
    static_assert(!is_alloc, "cudag: an AllocNode is no memory itself: pass its span()");
    static_assert(is_alloc || OperandArgument<Memory>,
                  "cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host "
                  "range, or a shared_ptr to one of them; a raw pointer has no length: make it a "
                  "DeviceSpan or std::span");
    static_assert(!OperandArgument<Memory> || outlives_call<Memory>,
                  "cudag: a temporary host range is gone when the graph runs; pass an lvalue, a PinnedBuffer or a "
                  "shared_ptr");
    return OperandArgument<Memory> && outlives_call<Memory>;
}

constexpr cudaMemcpyKind copy_kind(Side destination, Side source) noexcept {
    if (destination == Side::host) return source == Side::host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return source == Side::host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/// Returns the copy of `source` to `destination`. The sizes are compared later, by a caller that can name the node.
template <class Destination, class Source>
CopyParams copy_params(Destination& destination, Source& source, Owners& owners) {
    const auto to = to_operand(destination, 0, owners);
    const auto from = to_operand(source, 1, owners);
    using Element = typename decltype(to)::element_type;
    using Other = typename decltype(from)::element_type;
    static_assert(!std::is_const_v<Element>, "cudag: the destination of a memcpy is const");
    static_assert(std::is_same_v<Element, std::remove_cv_t<Other>>,
                  "cudag: memcpy needs the same element type on both sides");
    static_assert(std::is_trivially_copyable_v<Element>, "cudag: memcpy needs trivially copyable elements");
    return {to.data, from.data, to.size, from.size, sizeof(Element), copy_kind(to.side, from.side)};
}

/// Refuses a value of `bytes` bytes that CUDA cannot fill with. Throws GraphError, in an update UpdateError.
[[noreturn]] CUDAG_EXPORT void refuse_pattern(std::size_t bytes, const CallSite& call);

/// Returns the number of bytes for CUDA to repeat: 4, 2 or 1, the most for elements of this size and alignment.
[[nodiscard]] constexpr unsigned fill_bytes(std::size_t size, std::size_t alignment) noexcept {
    if (size <= 2 || size == 4) return static_cast<unsigned>(size);
    for (const unsigned bytes : {4U, 2U})
        if (size % bytes == 0 && alignment % bytes == 0) return bytes;
    return 1;
}

/// True if `size` bytes at `element` repeat the first `period` of them.
[[nodiscard]] inline bool repeats(const unsigned char* element, std::size_t size, std::size_t period) noexcept {
    return size % period == 0 && std::memcmp(element, element + period, size - period) == 0;
}

/// Returns the fill of `size` elements of `Size` bytes with the bytes of `element`. Throws GraphError, in an update
/// UpdateError, if CUDA cannot fill with them.
template <std::size_t Size, std::size_t Alignment>
SetParams fill_of(void* data, std::size_t size, const unsigned char* element, const CallSite& call) {
    unsigned bytes = fill_bytes(Size, Alignment);
    if constexpr (Size != 1 && Size != 2 && Size != 4) {
        // elements without alignment may still be aligned in memory
        while (bytes <= 4 && !repeats(element, Size, bytes))
            bytes *= 2;
        if (bytes > 4) refuse_pattern(Size, call);
    }
    SetParams params{data, size * (Size / bytes), bytes, 0};
    params.parts = Size / bytes;
    std::memcpy(&params.value, element, bytes);
    return params;
}

/// Returns the fill of `size` elements at `data` with `value`, converted like a kernel argument.
template <Side OnSide, class Element, class Value>
SetParams set_elements(Element* data, std::size_t size, const Value& value, CallEffects& effects,
                       const CallSite& call) {
    static_assert(OnSide == Side::device, "cudag: memset fills device memory; fill host memory with std::fill");
    static_assert(!std::is_const_v<Element>, "cudag: the destination of a memset is const");
    static_assert(std::is_trivially_copyable_v<Element>, "cudag: memset needs trivially copyable elements");
    static_assert(!is_dynamic_param<Value>,
                  "cudag: a fill follows no DynamicParam; fill with its present value: param.value()");
    static_assert(KernelArgument<Value, Element>,
                  "cudag: memset value cannot become the element type; see the types below");
    if constexpr (KernelArgument<Value, Element> && std::is_trivially_copyable_v<Element>) {
        void* const place = const_cast<std::remove_const_t<Element>*>(data);
        unsigned char bytes[sizeof(Element)];
        if constexpr (std::is_same_v<Value, Element>) {
            std::memcpy(bytes, &value, sizeof(Element)); // not from a copy: its padding may differ
        } else {
            const Element element = to_parameter<Element>(value, effects, {call, 0});
            std::memcpy(bytes, &element, sizeof(Element));
        }
        return fill_of<sizeof(Element), alignof(Element)>(place, size, bytes, call);
    } else {
        return {};
    }
}

/// Returns the fill of all bytes of `size` elements at `data` with 0.
template <Side OnSide, class Element>
SetParams clear_elements(Element* data, std::size_t size) {
    static_assert(OnSide == Side::device, "cudag: clear() is for device memory; fill host memory with std::fill");
    static_assert(!std::is_const_v<Element>, "cudag: the memory to clear is const");
    static_assert(std::is_trivially_copyable_v<Element>, "cudag: clear() needs trivially copyable elements");
    constexpr unsigned bytes = fill_bytes(sizeof(Element), alignof(Element));
    constexpr std::size_t parts = sizeof(Element) / bytes;
    return {const_cast<std::remove_const_t<Element>*>(data), size * parts, bytes, 0, 1, 0, parts};
}

/// Returns the fill of all elements of `destination` with `value`.
template <class Destination, class Value>
SetParams set_params(Destination& destination, const Value& value, CallEffects& effects, const CallSite& call) {
    const auto to = to_operand(destination, 0, effects.owners);
    return set_elements<to.side>(to.data, to.size, value, effects, call);
}
/// Returns the fill of all bytes of `destination` with 0.
template <class Destination>
SetParams clear_params(Destination& destination, CallEffects& effects) {
    const auto to = to_operand(destination, 0, effects.owners);
    return clear_elements<to.side>(to.data, to.size);
}

} // namespace cudag::detail
