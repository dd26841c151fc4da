// Mathematical functions of CUDA's global namespace without a counterpart in C++.
#pragma once

#include <math.h>
#include <stdlib.h>

// These are plain overloads, as in CUDA: they win over the templates of a `using namespace std`.
#define CUDART_CPU_MIN_MAX(Result, Left, Right)                                                                        \
    inline constexpr Result min(Left a, Right b) {                                                                     \
        return static_cast<Result>(b) < static_cast<Result>(a) ? static_cast<Result>(b) : static_cast<Result>(a);      \
    }                                                                                                                  \
    inline constexpr Result max(Left a, Right b) {                                                                     \
        return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(b) : static_cast<Result>(a);      \
    }
#define CUDART_CPU_MIN_MAX_MIXED(Signed, Unsigned)                                                                     \
    CUDART_CPU_MIN_MAX(Signed, Signed, Signed)                                                                         \
    CUDART_CPU_MIN_MAX(Unsigned, Unsigned, Unsigned)                                                                   \
    CUDART_CPU_MIN_MAX(Unsigned, Signed, Unsigned)                                                                     \
    CUDART_CPU_MIN_MAX(Unsigned, Unsigned, Signed)

CUDART_CPU_MIN_MAX_MIXED(int, unsigned)
CUDART_CPU_MIN_MAX_MIXED(long, unsigned long)
CUDART_CPU_MIN_MAX_MIXED(long long, unsigned long long)

#undef CUDART_CPU_MIN_MAX_MIXED
#undef CUDART_CPU_MIN_MAX

// If one argument is NaN, the result is the other one.
inline float min(float a, float b) {
    return fminf(a, b);
}
inline float max(float a, float b) {
    return fmaxf(a, b);
}
inline double min(double a, double b) {
    return fmin(a, b);
}
inline double max(double a, double b) {
    return fmax(a, b);
}
inline double min(float a, double b) {
    return fmin(static_cast<double>(a), b);
}
inline double max(float a, double b) {
    return fmax(static_cast<double>(a), b);
}
inline double min(double a, float b) {
    return fmin(a, static_cast<double>(b));
}
inline double max(double a, float b) {
    return fmax(a, static_cast<double>(b));
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
