// Tests of what only some versions of CUDA can do.
#pragma once

#include "test.hpp"

#include <algorithm>
#include <string>
#include <utility>

/// The version of CUDA here, such as 12080: the oldest of headers, runtime and driver.
inline int cuda_here() {
    int runtime = 0;
    int driver = 0;
    cudag::check(cudaRuntimeGetVersion(&runtime));
    cudag::check(cudaDriverGetVersion(&driver));
    return std::min({CUDART_VERSION, runtime, driver});
}

/// Whether CUDA here is older than `needed`, such as 12080; says so.
inline bool older_than(int needed) {
    const int here = cuda_here();
    if (here >= needed) return false;
    WARN("skipped: it needs CUDA " << needed / 1000 << '.' << needed % 1000 / 10 << ", and here is CUDA " << here / 1000
                                   << '.' << here % 1000 / 10);
    return true;
}

/// Whether the driver tells kind and bodies of conditionals that cudag did not make.
inline bool reads_conditionals() {
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    return driver >= 13020;
}

/// Whether a graph can become a child itself; before CUDA 12.9 only a clone of it can.
inline bool can_move() {
    return cuda_here() >= 12090;
}
/// Adds a graph that the caller needs no more: itself where it can move, else a clone of it.
inline cudag::ChildNode add_child(cudag::GraphBuilder& builder, cudag::Graph inner) {
    return can_move() ? builder.child(std::move(inner)) : builder.child(inner);
}

/// Whether CUDA here has a log: a driver from 12.9 on does, and headers from 12.5 on can ask it. Without one cudag
/// tells what failed and what to do, but neither which call it was nor why.
inline bool has_log() {
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    return CUDART_VERSION >= 12050 && driver >= 12090;
}
/// `text`, which only CUDA's log tells: empty without one.
inline std::string logged(const std::string& text) {
    return has_log() ? text : std::string();
}

/// How a capture is said to be broken by the call `name`: of which only the log tells the name.
inline std::string broken_by(const std::string& name) {
    return "the capture was broken" + (has_log() ? " by " + name : ": ");
}
/// The code of a broken capture: of the call that broke it, which only the log tells once the last error is read.
inline std::error_code code_of_broken(cudaError_t cause) {
    return cuda_code(has_log() ? cause : cudaErrorStreamCaptureInvalidated);
}
