// The mathematical functions that CUDA has in the global namespace and C++ has not.
#pragma once

#include <math.h>
#include <stdlib.h>

#include <type_traits>

namespace cudart_cpu::detail {

template <class A, class B>
using Arithmetic = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;

} // namespace cudart_cpu::detail

template <class A, class B>
constexpr cudart_cpu::detail::Arithmetic<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(::fmin(static_cast<T>(a), static_cast<T>(b)));
    } else {
        return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
    }
}

template <class A, class B>
constexpr cudart_cpu::detail::Arithmetic<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(::fmax(static_cast<T>(a), static_cast<T>(b)));
    } else {
        return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
    }
}

inline float rsqrtf(float x) {
    return 1.0f / sqrtf(x);
}
inline double rsqrt(double x) {
    return 1.0 / sqrt(x);
}
inline float __saturatef(float x) {
    return fminf(fmaxf(x, 0.0f), 1.0f);
}
inline float __fdividef(float a, float b) {
    return a / b;
}
inline float __expf(float x) {
    return expf(x);
}
inline float __logf(float x) {
    return logf(x);
}
inline float __log2f(float x) {
    return log2f(x);
}
inline float __sinf(float x) {
    return sinf(x);
}
inline float __cosf(float x) {
    return cosf(x);
}
inline float __powf(float x, float y) {
    return powf(x, y);
}
