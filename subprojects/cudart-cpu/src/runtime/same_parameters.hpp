// Macros that define functions with another function's parameters.
#pragma once

#include <cstddef>
#include <tuple>

namespace cudart_cpu::detail {

template <class Function>
struct ParametersOf;

template <class Result, class... Parameter>
struct ParametersOf<Result(Parameter...)> {
    template <std::size_t Index>
    using At = std::tuple_element_t<Index, std::tuple<Parameter...>>;
};

} // namespace cudart_cpu::detail

#define CUDART_CPU_PARAMETER(function, index) cudart_cpu::detail::ParametersOf<decltype(function)>::At<index>

/// The first parameters of `function`, named by letters.
#define CUDART_CPU_PARAMETERS_1(function) CUDART_CPU_PARAMETER(function, 0) a
#define CUDART_CPU_PARAMETERS_2(function) CUDART_CPU_PARAMETERS_1(function), CUDART_CPU_PARAMETER(function, 1) b
#define CUDART_CPU_PARAMETERS_3(function) CUDART_CPU_PARAMETERS_2(function), CUDART_CPU_PARAMETER(function, 2) c
#define CUDART_CPU_PARAMETERS_4(function) CUDART_CPU_PARAMETERS_3(function), CUDART_CPU_PARAMETER(function, 3) d
#define CUDART_CPU_PARAMETERS_5(function) CUDART_CPU_PARAMETERS_4(function), CUDART_CPU_PARAMETER(function, 4) e
#define CUDART_CPU_PARAMETERS_6(function) CUDART_CPU_PARAMETERS_5(function), CUDART_CPU_PARAMETER(function, 5) f
#define CUDART_CPU_PARAMETERS_7(function) CUDART_CPU_PARAMETERS_6(function), CUDART_CPU_PARAMETER(function, 6) g
#define CUDART_CPU_PARAMETERS_8(function) CUDART_CPU_PARAMETERS_7(function), CUDART_CPU_PARAMETER(function, 7) h
#define CUDART_CPU_PARAMETERS_9(function) CUDART_CPU_PARAMETERS_8(function), CUDART_CPU_PARAMETER(function, 8) i

/// The arguments for these parameters, each passed through `through`.
#define CUDART_CPU_ARGUMENTS_1(through) through(a)
#define CUDART_CPU_ARGUMENTS_2(through) CUDART_CPU_ARGUMENTS_1(through), through(b)
#define CUDART_CPU_ARGUMENTS_3(through) CUDART_CPU_ARGUMENTS_2(through), through(c)
#define CUDART_CPU_ARGUMENTS_4(through) CUDART_CPU_ARGUMENTS_3(through), through(d)
#define CUDART_CPU_ARGUMENTS_5(through) CUDART_CPU_ARGUMENTS_4(through), through(e)
#define CUDART_CPU_ARGUMENTS_6(through) CUDART_CPU_ARGUMENTS_5(through), through(f)
#define CUDART_CPU_ARGUMENTS_7(through) CUDART_CPU_ARGUMENTS_6(through), through(g)
#define CUDART_CPU_ARGUMENTS_8(through) CUDART_CPU_ARGUMENTS_7(through), through(h)
#define CUDART_CPU_ARGUMENTS_9(through) CUDART_CPU_ARGUMENTS_8(through), through(i)
