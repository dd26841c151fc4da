// Reads kernel nodes that were made without cudag.
#pragma once

#include "kernel.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory_resource>
#include <unordered_map>

namespace cudag::detail {

/// Describes each function once. Needs a context: see bind_context.
class KernelReader {
  public:
    /// What is read goes into `memory`.
    explicit KernelReader(std::pmr::memory_resource& memory) : memory_(memory) {}

    /// Throws GraphError.
    [[nodiscard]] const KernelParams* read(cudaGraphNode_t node);

  private:
    [[nodiscard]] const KernelSignature& signature(CUfunction function);
    /// Null if it is a device's primary one.
    [[nodiscard]] CUcontext separate_context(CUcontext context);

    std::pmr::memory_resource& memory_;
    CUcontext last_context_ = nullptr;
    bool is_separate_ = false;
    CUfunction last_function_ = nullptr;
    const KernelSignature* last_signature_ = nullptr;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

} // namespace cudag::detail
