// A kernel with its arguments, for launches and for kernel nodes.
#pragma once

#include "kernels.hpp"
#include "test.hpp"

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/// The kernel as CUDA's functions take it.
template <class... P>
void* symbol(void (*kernel)(P...)) {
    const auto function = reinterpret_cast<void*>(kernel);
    // Loads it: a first launch would, and could wait for a stream that a test holds up.
    cudaFuncAttributes attributes{};
    REQUIRE_CUDA(cudaFuncGetAttributes(&attributes, function));
    return function;
}

/// An ordinary function: no kernel.
inline void not_a_kernel() {}

template <class... P>
class Call {
  public:
    explicit Call(void (*kernel)(P...), std::type_identity_t<P>... arguments)
        : function_(symbol(kernel)), arguments_(arguments...) {
        point(std::index_sequence_for<P...>{});
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    dim3 grid{1, 1, 1};
    dim3 block{1, 1, 1};

    void* function() const { return function_; }
    void** arguments() { return pointers_.data(); }

    template <std::size_t I>
    auto& argument() {
        return std::get<I>(arguments_);
    }

    cudaKernelNodeParams params() {
        cudaKernelNodeParams result{};
        result.func = function_;
        result.gridDim = grid;
        result.blockDim = block;
        result.kernelParams = arguments();
        return result;
    }

    void launch(cudaStream_t stream) { REQUIRE_CUDA(cudaLaunchKernel(function_, grid, block, arguments(), 0, stream)); }

  private:
    template <std::size_t... I>
    void point(std::index_sequence<I...>) {
        ((pointers_[I] = &std::get<I>(arguments_)), ...);
    }

    void* function_;
    std::tuple<P...> arguments_;
    // One more than there are arguments, so that a kernel without any has an array too.
    std::array<void*, sizeof...(P) + 1> pointers_{};
};
