// The attributes of kernel nodes: passing them to CUDA, and reading them.
#pragma once

#include "cuda/failure.hpp"
#include "cuda/version.hpp"
#include "kernel.hpp"
#include "launch_attributes.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <unordered_set>

namespace cudag::detail {

/// The parameters for adding the node of a launch with attributes: without shared memory allowed by an attribute only.
[[nodiscard]] CUDA_KERNEL_NODE_PARAMS without_attributes(const CUDA_KERNEL_NODE_PARAMS& launch,
                                                         const LaunchConfig& config) noexcept;
/// Sets the attributes of a node added that way, and the parameters that they allow. If CUDA rejects an attribute,
/// destroys the node and throws GraphError. `symbol` is the kernel.
void set_attributes(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config,
                    const void* symbol, Subject&& subject);

/// Throws GraphError if CUDA rejects the attributes of a launch. Tries them in a separate graph, since CUDA cannot
/// destroy the nodes of some graphs.
void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, const void* symbol,
                    Subject&& subject);

/// The configuration of a node with all attributes; reads those of a node not made by cudag. Throws GraphError.
[[nodiscard]] LaunchConfig full_config(const KernelParams& kernel);
/// The same. `version` spares the question about it for each of many nodes.
[[nodiscard]] LaunchConfig full_config(const KernelParams& kernel, int version);
/// Reads the unread attributes of OwnedParams.
void complete_config(KernelParams& kernel);
/// The attribute of `before` that CUDA would silently not update to `after` in an exec: "cluster is (2, 1, 1), the
/// update's is (1, 1, 1)"; empty if there is none. Queries CUDA about nodes not made by cudag. Throws GraphError.
[[nodiscard]] std::string silently_ignored(const KernelParams& before, const KernelParams& after);
/// Whether CUDA may silently keep an attribute of the kernel. `plain` collects functions for which it does not.
/// `version` spares the question about it for each of many nodes.
[[nodiscard]] bool may_keep_attributes(const KernelParams& kernel, std::unordered_set<CUfunction>& plain,
                                       int version = cuda_version());
/// Whether CUDA may silently keep an attribute of a captured kernel node, all of whose attributes CUDA reports.
[[nodiscard]] bool may_keep_attributes(cudaGraphNode_t node, int version = cuda_version());
/// Whether the code of a kernel can wait for previous ones: code compiled for devices without early launch has no wait,
/// on newer devices either. Throws GraphError. Needs a context.
[[nodiscard]] bool has_code_for_early_launch(CUfunction function);
/// Whether kernels may change the node; queries CUDA about a node not made by cudag. Throws GraphError.
[[nodiscard]] bool is_device_updatable(const KernelParams& kernel);

} // namespace cudag::detail
