// One instruction over a table of inputs, on the device and on the host.
#pragma once

#include "kernel_test.hpp"

/// `Op` has types A, B, C and R, `static __device__ R run(A, B, C)`.
template <class Op>
__global__ void apply_instruction(int count, const typename Op::A* a, const typename Op::B* b, const typename Op::C* c,
                                  typename Op::R* results) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) results[i] = Op::run(a[i], b[i], c[i]);
}

/// Each of `as` with each of `bs` with each of `cs`; `expected` computes in C++.
template <class Op, class F>
void check_instruction(const char* name, const std::vector<typename Op::A>& as, const std::vector<typename Op::B>& bs,
                       const std::vector<typename Op::C>& cs, F expected) {
    std::vector<typename Op::A> a;
    std::vector<typename Op::B> b;
    std::vector<typename Op::C> c;
    std::vector<typename Op::R> want;
    for (const auto& x : as)
        for (const auto& y : bs)
            for (const auto& z : cs) {
                a.push_back(x);
                b.push_back(y);
                c.push_back(z);
                want.push_back(expected(x, y, z));
            }
    const Device<typename Op::A> da(a);
    const Device<typename Op::B> db(b);
    const Device<typename Op::C> dc(c);
    const Device<typename Op::R> results(a.size());
    const int count = static_cast<int>(a.size());
    apply_instruction<Op><<<(count + 127) / 128, 128>>>(count, da.get(), db.get(), dc.get(), results.get());
    const std::vector<typename Op::R> got = results.read();
    for (std::size_t i = 0; i < got.size(); ++i)
        if (std::memcmp(&got[i], &want[i], sizeof(typename Op::R)) != 0) {
            std::ostringstream text;
            text << name << " of " << +a[i] << ", " << +b[i] << ", " << +c[i];
            expect_same<typename Op::R>({got[i]}, {want[i]}, text.str());
        }
}

// The letter says how inline PTX holds the type: r 32 bits, l 64, h 16, f float, d double.
#define INSTRUCTION3(Name, ptx, RT, r, AT, ra, BT, rb, CT, rc)                                                         \
    struct Name {                                                                                                      \
        using A = AT;                                                                                                  \
        using B = BT;                                                                                                  \
        using C = CT;                                                                                                  \
        using R = RT;                                                                                                  \
        static __device__ R run(A a, B b, C c) {                                                                       \
            R result;                                                                                                  \
            asm volatile(ptx : "=" r(result) : ra(a), rb(b), rc(c));                                                   \
            return result;                                                                                             \
        }                                                                                                              \
    };
#define INSTRUCTION2(Name, ptx, RT, r, AT, ra, BT, rb)                                                                 \
    struct Name {                                                                                                      \
        using A = AT;                                                                                                  \
        using B = BT;                                                                                                  \
        using C = int;                                                                                                 \
        using R = RT;                                                                                                  \
        static __device__ R run(A a, B b, C) {                                                                         \
            R result;                                                                                                  \
            asm volatile(ptx : "=" r(result) : ra(a), rb(b));                                                          \
            return result;                                                                                             \
        }                                                                                                              \
    };
#define INSTRUCTION1(Name, ptx, RT, r, AT, ra)                                                                         \
    struct Name {                                                                                                      \
        using A = AT;                                                                                                  \
        using B = int;                                                                                                 \
        using C = int;                                                                                                 \
        using R = RT;                                                                                                  \
        static __device__ R run(A a, B, C) {                                                                           \
            R result;                                                                                                  \
            asm volatile(ptx : "=" r(result) : ra(a));                                                                 \
            return result;                                                                                             \
        }                                                                                                              \
    };
