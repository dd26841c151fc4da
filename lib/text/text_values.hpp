// Values of fields without handles, as text and back.
#pragma once

#include "node/comparison.hpp"
#include "node/copy_batch.hpp"
#include "text_lines.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace cudag::detail {

/// The names of the access modes, in their order.
inline constexpr std::array<std::string_view, 4> text_of_mode{"read", "write", "atomic", "disjoint"};

/// Whether a text has such a field only with another value than the default.
template <class Params, class Value>
inline constexpr bool is_often_left_out = false;
template <>
inline constexpr bool is_often_left_out<CopyOfBatch, compat::CopyAttributes> = true;
template <>
inline constexpr bool is_often_left_out<CopyOfBatch, bool> = true;

template <std::integral T>
[[nodiscard]] std::string plain_text(T number) {
    return value_text(number);
}
[[nodiscard]] inline std::string plain_text(const dim3& size) {
    return value_text(size);
}
[[nodiscard]] inline std::string plain_text(const cudaPos& position) {
    return value_text(position);
}
[[nodiscard]] inline std::string plain_text(const cudaExtent& extent) {
    return value_text(extent);
}
[[nodiscard]] inline std::string plain_text(cudaMemcpyKind kind) {
    return value_text(kind);
}
[[nodiscard]] inline std::string plain_text(ConditionalKind kind) {
    return value_text(kind);
}
[[nodiscard]] inline std::string plain_text(MemoryOperationKind kind) {
    return value_text(kind);
}
[[nodiscard]] inline std::string plain_text(Compare compare) {
    return value_text(compare);
}

[[nodiscard]] inline std::string plain_text(const compat::CopyAttributes& attributes) {
    return value_text(attributes);
}

template <std::integral T>
void read_plain(LineReader& line, T& number) {
    number = line.number<T>("a number in the range of its type");
}
/// Reads three numbers, with these texts around them.
template <class T>
void read_three(LineReader& line, std::string_view open, std::string_view between, std::string_view close, T& x, T& y,
                T& z, std::string_view expected) {
    line.require(open, expected);
    x = line.number<T>(expected);
    line.require(between, expected);
    y = line.number<T>(expected);
    line.require(between, expected);
    z = line.number<T>(expected);
    line.require(close, expected);
}
inline void read_plain(LineReader& line, dim3& size) {
    read_three(line, "(", ", ", ")", size.x, size.y, size.z, "three numbers, as in \"(4, 1, 1)\"");
}
inline void read_plain(LineReader& line, cudaPos& position) {
    read_three(line, "(", ", ", ")", position.x, position.y, position.z, "three numbers, as in \"(4, 0, 0)\"");
}
inline void read_plain(LineReader& line, cudaExtent& extent) {
    read_three(line, "", " x ", "", extent.width, extent.height, extent.depth, "three numbers, as in \"64 x 8 x 1\"");
}
inline void read_plain(LineReader& line, cudaMemcpyKind& kind) {
    for (const cudaMemcpyKind each : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                      cudaMemcpyDeviceToDevice, cudaMemcpyDefault})
        if (line.rest() == value_text(each)) {
            static_cast<void>(line.take(line.rest()));
            kind = each;
            return;
        }
    line.refuse("a direction, such as \"host to device\"");
}
inline void read_plain(LineReader& line, ConditionalKind& kind) {
    for (const ConditionalKind each : {ConditionalKind::if_, ConditionalKind::while_, ConditionalKind::switch_})
        if (line.take(value_text(each))) {
            kind = each;
            return;
        }
    line.refuse("\"if\", \"while\" or \"switch\"");
}
inline void read_plain(LineReader& line, MemoryOperationKind& kind) {
    for (const MemoryOperationKind each : {MemoryOperationKind::wait_value, MemoryOperationKind::write_value,
                                           MemoryOperationKind::barrier, MemoryOperationKind::flush_remote_writes})
        if (line.take(value_text(each))) {
            kind = each;
            return;
        }
    line.refuse("a memory operation, such as \"wait_value\"");
}
inline void read_plain(LineReader& line, Compare& compare) {
    for (const Compare each : {Compare::at_least, Compare::equal, Compare::any_bit_set, Compare::any_bit_clear})
        if (line.take(value_text(each))) {
            compare = each;
            return;
        }
    line.refuse("a comparison, such as \"equal\"");
}

inline void read_plain(LineReader& line, compat::CopyAttributes& attributes) {
    constexpr std::string_view expected = "attributes, as in \"order 1, flags 0, source at 0 0, destination at 0 0\"";
    const auto read = [&](std::string_view before, auto& number) {
        line.require(before, expected);
        number = line.number<std::decay_t<decltype(number)>>(expected);
    };
    read("order ", attributes.order);
    read(", flags ", attributes.flags);
    read(", source at ", attributes.source.type);
    read(" ", attributes.source.id);
    read(", destination at ", attributes.destination.type);
    read(" ", attributes.destination.id);
}
inline void read_plain(LineReader& line, bool& value) {
    value = line.number<unsigned>("0 or 1") != 0;
}

} // namespace cudag::detail
