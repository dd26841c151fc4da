// Hands a node's parameters to CUDA: to a graph's node, or to an exec's.
#pragma once

#include "cuda/failure.hpp"
#include "node_params.hpp"

#include <cudag/detail/kernel_call.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <vector>

namespace cudag::detail {

/// What a CUDA call answered.
struct NativeResult {
    cudaError_t status;
    const char* operation;
    Api api;
};

/// Both need a context if the node is a kernel: see bind_context.
[[nodiscard]] NativeResult set_native_params(cudaGraphNode_t node, const NodeParams& params);
[[nodiscard]] NativeResult set_native_params(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params);

/// The same for a kernel whose arguments lie where `values` points.
[[nodiscard]] NativeResult set_native_kernel(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& params);
[[nodiscard]] NativeResult set_native_kernel(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const CUDA_KERNEL_NODE_PARAMS& params);

/// Throws UpdateError for a call that has failed.
[[noreturn]] void raise_update(const NativeResult& result, const NodeParams& params, Subject&& subject);

/// Pointers to all arguments of a kernel.
class ArgumentPointers {
  public:
    explicit ArgumentPointers(const KernelParams& kernel) { merge(nullptr, kernel); }
    /// Those that `call` gives, and for the rest those of `kernel`. Refers to both.
    ArgumentPointers(const KernelCall& call, const KernelParams& kernel) : pointers_(call.values) {
        if (call.block == nullptr) merge(call.values, kernel);
    }
    ArgumentPointers(const ArgumentPointers&) = delete;
    ArgumentPointers& operator=(const ArgumentPointers&) = delete;

    [[nodiscard]] void* const* get() const noexcept { return pointers_; }

  private:
    void merge(void* const* given, const KernelParams& kernel) {
        const std::uint32_t count = kernel.signature->count;
        if (count > few_.size()) many_.resize(count);
        void** merged = count > few_.size() ? many_.data() : few_.data();
        for (std::uint32_t i = 0; i < count; ++i)
            merged[i] = given != nullptr && given[i] != nullptr
                            ? given[i]
                            : kernel.values + kernel.signature->parameters[i].offset;
        pointers_ = merged;
    }

    std::array<void*, 64> few_;
    std::vector<void*> many_;
    void* const* pointers_;
};

} // namespace cudag::detail
