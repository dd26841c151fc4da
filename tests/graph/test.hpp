// What the graph tests share: how a refused call is looked at, and device memory with known contents.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catch.hpp>
#include <cudag/cudag.hpp>

#include "call.hpp"
#include "kernels.hpp"

using Labels = std::vector<std::string>;

/// What `error.code()` compares with.
inline std::error_code cuda_code(cudaError_t error) {
    return {static_cast<int>(error), cudag::cuda_category()};
}

/// What `call()` throws, as E itself, no class above or below it. No refused call leaves CUDA's last error set.
template <class E>
E refused(CallRef<> call) {
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    std::optional<E> caught;
    try {
        call();
    } catch (const E& error) {
        if (typeid(error) != typeid(E)) throw;
        caught = error;
    }
    REQUIRE(caught);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    return *caught;
}

/// Writes `values`, and waits until the device sees them.
template <class T>
void write(cudag::DeviceSpan<T> memory, const std::vector<T>& values) {
    REQUIRE(values.size() == memory.size());
    cudag::check(cudaMemcpy(memory.data(), values.data(), memory.size_bytes(), cudaMemcpyHostToDevice));
    cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
}

/// Reads what streams that have been synchronised have written.
template <class T>
std::vector<std::remove_const_t<T>> read(cudag::DeviceSpan<T> memory) {
    std::vector<std::remove_const_t<T>> values(memory.size());
    cudag::check(cudaMemcpy(values.data(), memory.data(), memory.size_bytes(), cudaMemcpyDeviceToHost));
    return values;
}
template <class T>
std::vector<T> read(const cudag::DeviceBuffer<T>& memory) {
    return read(memory.span());
}

template <class T>
cudag::DeviceBuffer<T> device(const std::vector<T>& values) {
    cudag::DeviceBuffer<T> buffer(values.size());
    write(buffer.span(), values);
    return buffer;
}
template <class T>
cudag::DeviceBuffer<T> device(std::initializer_list<T> values) {
    return device(std::vector<T>(values));
}

/// Runs `exec` once, to the end.
inline void run(cudag::Exec& exec, const cudag::Stream& stream) {
    exec.launch(stream);
    stream.synchronize();
}

/// Builds, instantiates and runs the graph once, to the end.
inline void run(cudag::GraphBuilder&& builder) {
    const cudag::Graph graph = std::move(builder).build();
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
}
