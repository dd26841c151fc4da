// Calls of NCCL, as values without their types.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/span.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

struct __half;
struct __nv_bfloat16;

namespace cudag::nccl {

class Communicator;
class Operation;

/// The reduction of a collective, with the values of `ncclRedOp_t`.
enum class Reduction : std::uint8_t { sum, product, max, min, average };

namespace detail {

using cudag::detail::Owners;

class NcclComm;
struct NcclAccess;

/// The types of elements, with the values of `ncclDataType_t`.
enum class NcclType : std::uint8_t { int8, uint8, int32, uint32, int64, uint64, half, float32, float64, bfloat16 };

/// The type that NCCL has for `Element`; -1 for none.
template <class Element>
constexpr int nccl_type() {
    using Value = std::remove_cv_t<Element>;
    if constexpr (std::is_same_v<Value, float>) return static_cast<int>(NcclType::float32);
    if constexpr (std::is_same_v<Value, double>) return static_cast<int>(NcclType::float64);
    if constexpr (std::is_same_v<Value, __half>) return static_cast<int>(NcclType::half);
    if constexpr (std::is_same_v<Value, __nv_bfloat16>) return static_cast<int>(NcclType::bfloat16);
    if constexpr (std::is_same_v<Value, std::byte>) return static_cast<int>(NcclType::uint8);
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        if constexpr (sizeof(Value) == 1)
            return static_cast<int>(std::is_signed_v<Value> ? NcclType::int8 : NcclType::uint8);
        if constexpr (sizeof(Value) == 4)
            return static_cast<int>(std::is_signed_v<Value> ? NcclType::int32 : NcclType::uint32);
        if constexpr (sizeof(Value) == 8)
            return static_cast<int>(std::is_signed_v<Value> ? NcclType::int64 : NcclType::uint64);
    }
    return -1;
}

enum class NcclKind : std::uint8_t { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, recv };

/// A kind of call, with its values.
struct NcclShape {
    NcclKind kind;
    Reduction reduction = Reduction::sum;
    int peer = 0; ///< the root of a collective, or the other rank
};

/// One range of elements.
struct NcclRange {
    void* data = nullptr;
    std::size_t count = 0;
};

/// One call of NCCL.
struct NcclCall {
    NcclShape shape;
    std::shared_ptr<NcclComm> comm = nullptr;
    NcclRange in = {};
    NcclRange out = {};
    NcclType type = NcclType::uint8;
    std::size_t element_bytes = 1;
    Owners owners = {};
};

/// Checks a call, and returns it as an operation. Throws GraphError.
[[nodiscard]] CUDAG_EXPORT Operation checked_operation(const Communicator& comm, NcclCall&& call);
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<const void> register_range(const Communicator& comm, void* data,
                                                                      std::size_t bytes, Owners&& owners);

/// Fails to compile unless Memory is device memory with elements known to NCCL.
template <class Memory>
constexpr bool require_nccl_memory() {
    constexpr bool is_operand = cudag::detail::OperandArgument<Memory>;
    static_assert(is_operand, "cudag: NCCL takes a DeviceBuffer, a DeviceSpan or a shared_ptr to one of them; a raw "
                              "pointer has no length: make it a DeviceSpan");
    if constexpr (is_operand) {
        using Operand = decltype(cudag::detail::to_operand(std::declval<std::remove_reference_t<Memory>&>(), 0U,
                                                           std::declval<Owners&>()));
        constexpr bool is_device = Operand::side == Side::device;
        static_assert(is_device, "cudag: NCCL takes device memory: a DeviceBuffer or DeviceSpan");
        constexpr bool is_known = nccl_type<typename Operand::element_type>() >= 0;
        static_assert(is_known,
                      "cudag: NCCL has no such elements: it takes integers of 1, 4 and 8 bytes, float, double, "
                      "__half and __nv_bfloat16");
        return is_device && is_known;
    } else {
        return false;
    }
}

/// The elements of such memory, perhaps const.
template <class Memory>
using NcclElement = typename decltype(cudag::detail::to_operand(std::declval<std::remove_reference_t<Memory>&>(), 0U,
                                                                std::declval<Owners&>()))::element_type;

template <bool Writes, class Memory>
NcclRange nccl_range(Memory& memory, NcclCall& call) {
    const auto operand = cudag::detail::to_operand(memory, Writes ? 1 : 0, call.owners);
    using Element = NcclElement<Memory>;
    static_assert(!Writes || !std::is_const_v<Element>, "cudag: the memory that NCCL writes is const here");
    call.type = static_cast<NcclType>(nccl_type<Element>());
    call.element_bytes = sizeof(Element);
    return {const_cast<std::remove_const_t<Element>*>(operand.data), operand.size};
}

template <class In, class Out>
NcclCall nccl_call(const NcclShape& shape, In& in, Out& out) {
    NcclCall call{shape};
    if constexpr (require_nccl_memory<In&>() && require_nccl_memory<Out&>()) {
        constexpr bool same = std::is_same_v<std::remove_const_t<NcclElement<In&>>, NcclElement<Out&>>;
        static_assert(same || std::is_const_v<NcclElement<Out&>>,
                      "cudag: both ranges of a collective have the same elements");
        call.in = nccl_range<false>(in, call);
        call.out = nccl_range<true>(out, call);
    }
    return call;
}
template <class In>
NcclCall nccl_send(In& in, int peer) {
    NcclCall call{{NcclKind::send, Reduction::sum, peer}};
    if constexpr (require_nccl_memory<In&>()) call.in = nccl_range<false>(in, call);
    return call;
}
template <class Out>
NcclCall nccl_receive(Out& out, int peer) {
    NcclCall call{{NcclKind::recv, Reduction::sum, peer}};
    if constexpr (require_nccl_memory<Out&>()) call.out = nccl_range<true>(out, call);
    return call;
}
template <class Memory>
std::shared_ptr<const void> nccl_register(const Communicator& comm, Memory& memory) {
    if constexpr (require_nccl_memory<Memory&>()) {
        NcclCall call{{NcclKind::recv}};
        const NcclRange range = nccl_range<true>(memory, call);
        return register_range(comm, range.data, range.count * call.element_bytes, std::move(call.owners));
    } else {
        return nullptr;
    }
}

} // namespace detail

} // namespace cudag::nccl
