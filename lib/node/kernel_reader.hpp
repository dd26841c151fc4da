// A reader of kernel nodes made without cudag.
#pragma once

#include "kernel.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <memory_resource>
#include <unordered_map>

namespace cudag::detail {

/// Reads kernel nodes; describes each function once. Needs a context: see bind_context.
class KernelReader {
  public:
    /// Stores the results in `memory`.
    explicit KernelReader(std::pmr::memory_resource& memory) : memory_(memory) {}

    /// Throws GraphError.
    [[nodiscard]] const KernelParams* read(cudaGraphNode_t node);

  private:
    [[nodiscard]] const KernelSignature& signature(CUfunction function);
    /// Returns null for a device's primary context.
    [[nodiscard]] CUcontext separate_context(CUcontext context);

    std::pmr::memory_resource& memory_;
    CUcontext last_context_ = nullptr;
    bool is_separate_ = false;
    CUfunction last_function_ = nullptr;
    const KernelSignature* last_signature_ = nullptr;
    std::unordered_map<CUfunction, const KernelSignature*> signatures_;
};

} // namespace cudag::detail
