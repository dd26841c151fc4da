// A test of nodes for a given kernel.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "node/function.hpp"
#include "node/node_params.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <variant>

namespace cudag::detail {

/// Whether nodes launch a given kernel, on any device. The constructor from a symbol throws GraphError, naming
/// `action`, if the runtime does not know the symbol.
class KernelMatch {
  public:
    KernelMatch(const void* symbol, const char* action) : symbol_(symbol) {
        bind_context();
        const cudaError_t status = cudaGetFuncBySymbol(&function_, symbol);
        if (status != cudaSuccess)
            raise_call<GraphError>(status, "cudaGetFuncBySymbol", {action + kernel_name(symbol)});
    }

    explicit KernelMatch(const FunctionState& function)
        : symbol_(function.kernel), function_(function.function), kernel_(reinterpret_cast<CUkernel>(function.kernel)) {
    }

    [[nodiscard]] bool operator()(const NodeParams& params) {
        const auto* launch = std::get_if<const KernelParams*>(&params);
        if (launch == nullptr) return false;
        if ((*launch)->function == function_) return true;
        if (symbol_ == nullptr) return false;
        if ((*launch)->kernel == nullptr) return (*launch)->symbol == symbol_;
        if (kernel_ == nullptr) checked<GraphError>(cudaGetKernel(&kernel_, symbol_), "cudaGetKernel");
        return (*launch)->kernel == kernel_;
    }

  private:
    const void* symbol_;                ///< null for a function of one device
    cudaFunction_t function_ = nullptr; ///< of the current device
    cudaKernel_t kernel_ = nullptr;
};

} // namespace cudag::detail
