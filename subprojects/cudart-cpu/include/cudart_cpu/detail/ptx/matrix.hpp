// Matrix products of a warp: mma.sync, wmma, ldmatrix, stmatrix and movmatrix.
#pragma once

#include "fp8.hpp"
#include "memory.hpp"

namespace cudart_cpu::ptx {

inline void matrix_together(Thread& t, MatrixCall& call, u32 location) {
    cudart_cpu_warp(t, WarpCall::matrix, 0xFFFFFFFFu, address(&call), 0, 0, location);
}

struct tf32 {
    u32 raw;
};
constexpr f64 number(f16 x) {
    return widen(x);
}
constexpr f64 number(bf16 x) {
    return widen(x);
}
constexpr f64 number(tf32 x) {
    return __builtin_bit_cast(f32, x.raw & 0xFFFFE000u);
}
constexpr f64 number(e4m3 x) {
    return widen(to_f16(x));
}
constexpr f64 number(e5m2 x) {
    return widen(to_f16(x));
}
constexpr f64 number(f32 x) {
    return x;
}
constexpr f64 number(f64 x) {
    return x;
}
constexpr i32 number(i8 x) {
    return x;
}
constexpr i32 number(u8 x) {
    return x;
}
constexpr i32 number(i32 x) {
    return x;
}
template <class Result, bool Saturates, class From>
constexpr Result element_of(From sum) {
    if constexpr (std::is_same_v<Result, f16>)
        return to_half<f16>(static_cast<f64>(sum));
    else if constexpr (Saturates)
        return static_cast<Result>(sum < smallest<Result>  ? smallest<Result>
                                   : sum > largest<Result> ? largest<Result>
                                                           : sum);
    else
        return static_cast<Result>(sum);
}
/// Whole numbers have sums that do not overflow before they are converted.
template <class Element>
using SumOf = std::conditional_t<std::is_integral_v<Element>, i64, f64>;

/// Adds a product of two matrices to `sums`. Products of narrow numbers are exact, and so are most of their sums; those
/// of f64 are rounded once, with each sum.
template <class Element, u32 Rows, u32 Columns, u32 Depth, class Number>
inline void add_product(SumOf<Element> (&sums)[Rows][Columns], const Number (&a)[Rows][Depth],
                        const Number (&b)[Depth][Columns]) {
    for (u32 row = 0; row < Rows; ++row) {
        Number line[Columns] = {}; // products of bytes fit into an i32, and so do their sums
        for (u32 k = 0; k < Depth; ++k)
            for (u32 column = 0; column < Columns; ++column)
                if constexpr (std::is_same_v<Element, f64>)
                    sums[row][column] = __builtin_fma(a[row][k], b[k][column], sums[row][column]);
                else if constexpr (std::is_integral_v<Element>)
                    line[column] += a[row][k] * b[k][column];
                else
                    sums[row][column] += a[row][k] * b[k][column];
        if constexpr (std::is_integral_v<Element>)
            for (u32 column = 0; column < Columns; ++column)
                sums[row][column] += line[column];
    }
}

/// Returns the element at index `at` of a lane's registers.
template <class Element>
inline Element element(const u32* registers, u32 at) {
    Element value;
    __builtin_memcpy(&value, reinterpret_cast<const unsigned char*>(registers) + at * sizeof(Element), sizeof(Element));
    return value;
}
template <class Element>
inline void set_element(u32* registers, u32 at, Element value) {
    __builtin_memcpy(reinterpret_cast<unsigned char*>(registers) + at * sizeof(Element), &value, sizeof(Element));
}

/// mma.sync of shape m8n8kK or m16n8kK. PTX defines the layout: a row of 4 lanes holds a row of A and Result, a column
/// of 4 lanes one of B; a register holds adjacent elements. The registers of A alternate between rows 0 to 7 and 8
/// to 15.
template <u32 Rows, u32 Depth, class Left, class Right, class Added, class Result, bool Saturates>
void multiply_rows(MatrixCall* const* lanes) {
    constexpr u32 packed = sizeof(Left) < 4 ? 4 / sizeof(Left) : 1; // elements per register
    constexpr u32 span = 4 * packed;                                // columns of A covered by one register of each lane
    constexpr u32 halves = Rows / 8;
    decltype(number(Left{})) a[Rows][Depth];
    decltype(number(Left{})) b[Depth][8];
    SumOf<Left> sums[Rows][8];
    for (u32 lane = 0; lane < 32; ++lane) {
        const u32 group = lane / 4;
        const u32 place = lane % 4;
        for (u32 k = 0; k < Depth / span; ++k)
            for (u32 i = 0; i < packed; ++i) {
                const u32 column = k * span + place * packed + i;
                for (u32 half = 0; half < halves; ++half)
                    a[group + 8 * half][column] =
                        number(element<Left>(lanes[lane]->a, (halves * k + half) * packed + i));
                b[column][group] = number(element<Right>(lanes[lane]->b, k * packed + i));
            }
    }
    const auto for_each_sum = [&](auto use) {
        for (u32 lane = 0; lane < 32; ++lane)
            for (u32 i = 0; i < 2 * halves; ++i)
                use(sums[lane / 4 + (i / 2) * 8][lane % 4 * 2 + i % 2], *lanes[lane], i);
    };
    for_each_sum([](auto& sum, const MatrixCall& call, u32 i) { sum = number(element<Added>(call.c, i)); });
    add_product<Left>(sums, a, b);
    for_each_sum([](auto sum, MatrixCall& call, u32 i) { set_element(call.d, i, element_of<Result, Saturates>(sum)); });
}

// wmma leaves the layout to the machine: here lane l holds elements l * n to l * n + n - 1, row by row.
template <u32 Rows, u32 Columns, u32 Depth, class Left, class Added, class Result, bool Saturates>
void multiply_fragments(MatrixCall* const* lanes) {
    constexpr u32 of_a = Rows * Depth / 32;
    constexpr u32 of_b = Depth * Columns / 32;
    constexpr u32 of_c = Rows * Columns / 32;
    decltype(number(Left{})) a[Rows][Depth];
    decltype(number(Left{})) b[Depth][Columns];
    SumOf<Left> sums[Rows][Columns];
    for (u32 lane = 0; lane < 32; ++lane) {
        for (u32 i = 0, at = lane * of_a; i < of_a; ++i, ++at)
            a[at / Depth][at % Depth] = number(element<Left>(lanes[lane]->a, i));
        for (u32 i = 0, at = lane * of_b; i < of_b; ++i, ++at)
            b[at / Columns][at % Columns] = number(element<Left>(lanes[lane]->b, i));
        for (u32 i = 0, at = lane * of_c; i < of_c; ++i, ++at)
            sums[at / Columns][at % Columns] = number(element<Added>(lanes[lane]->c, i));
    }
    add_product<Left>(sums, a, b);
    for (u32 lane = 0; lane < 32; ++lane)
        for (u32 i = 0, at = lane * of_c; i < of_c; ++i, ++at)
            set_element(lanes[lane]->d, i, element_of<Result, Saturates>(sums[at / Columns][at % Columns]));
}
template <u32 Rows, u32 Columns, class Element>
void load_fragment(Thread& t, u32* registers, u64 from, u32 stride, bool by_rows) {
    constexpr u32 each = Rows * Columns / 32;
    for (u32 i = 0; i < each; ++i) {
        const u32 at = t.lane * each + i;
        const u32 row = at / Columns;
        const u32 column = at % Columns;
        set_element(registers, i,
                    load<Element>(from + (by_rows ? row * stride + column : column * stride + row) * sizeof(Element)));
    }
}
template <u32 Rows, u32 Columns, class Element>
void store_fragment(Thread& t, const u32* registers, u64 to, u32 stride, bool by_rows) {
    constexpr u32 each = Rows * Columns / 32;
    for (u32 i = 0; i < each; ++i) {
        const u32 at = t.lane * each + i;
        const u32 row = at / Columns;
        const u32 column = at % Columns;
        store(to + (by_rows ? row * stride + column : column * stride + row) * sizeof(Element),
              element<Element>(registers, i));
    }
}

/// ldmatrix: lane l names row l % 8 of matrix l / 8, in shared memory.
template <u32 Count, bool Transposed>
void load_matrices(MatrixCall* const* lanes) {
    for (u32 matrix = 0; matrix < Count; ++matrix) {
        u16 values[8][8];
        for (u32 row = 0; row < 8; ++row) {
            const u32* const given = lanes[matrix * 8 + row]->a;
            const u64 from = given[0] | static_cast<u64>(given[1]) << 32;
            for (u32 column = 0; column < 8; ++column)
                values[row][column] = load<u16>(from + 2 * column);
        }
        for (u32 lane = 0; lane < 32; ++lane)
            for (u32 i = 0; i < 2; ++i) {
                const u32 row = lane / 4;
                const u32 column = lane % 4 * 2 + i;
                set_element(lanes[lane]->d, 2 * matrix + i, Transposed ? values[column][row] : values[row][column]);
            }
    }
}
/// stmatrix: the counterpart of ldmatrix. The registers to store are in `c`.
template <u32 Count, bool Transposed>
void store_matrices(MatrixCall* const* lanes) {
    for (u32 matrix = 0; matrix < Count; ++matrix)
        for (u32 row = 0; row < 8; ++row) {
            const u32* const given = lanes[matrix * 8 + row]->a;
            const u64 to = given[0] | static_cast<u64>(given[1]) << 32;
            for (u32 column = 0; column < 8; ++column) {
                const u32 line = Transposed ? column : row;
                const u32 at = Transposed ? row : column;
                store(to + 2 * column, element<u16>(lanes[line * 4 + at / 2]->c, 2 * matrix + at % 2));
            }
        }
}
/// movmatrix: transposes a matrix held by the warp.
inline void transpose_matrix(MatrixCall* const* lanes) {
    for (u32 lane = 0; lane < 32; ++lane)
        for (u32 i = 0; i < 2; ++i) {
            const u32 line = lane % 4 * 2 + i;
            const u32 at = lane / 4;
            set_element(lanes[lane]->d, i, element<u16>(lanes[line * 4 + at / 2]->a, at % 2));
        }
}

} // namespace cudart_cpu::ptx
