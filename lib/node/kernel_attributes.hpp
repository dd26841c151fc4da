// The attributes of kernel nodes: given to CUDA, and read back.
#pragma once

#include "cuda/failure.hpp"
#include "kernel.hpp"
#include "launch_attributes.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>
#include <unordered_set>

namespace cudag::detail {

/// What the node of a launch with attributes is added as: without the shared memory that only an attribute allows.
[[nodiscard]] CUDA_KERNEL_NODE_PARAMS without_attributes(const CUDA_KERNEL_NODE_PARAMS& launch,
                                                         const LaunchConfig& config) noexcept;
/// Gives a node that was added so its attributes, and what they allow; if CUDA refuses one, destroys the node and
/// throws GraphError. `symbol` is the kernel.
void set_attributes(cudaGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config,
                    const void* symbol, Subject&& subject);

/// Throws GraphError if CUDA refuses the attributes of a launch: tried in a graph of its own, for the sake of graphs
/// whose nodes CUDA does not destroy.
void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, const void* symbol,
                    Subject&& subject);

/// The configuration of a node with all attributes, those of a node that cudag did not make being read now. Throws
/// GraphError.
[[nodiscard]] LaunchConfig full_config(const KernelParams& kernel);
/// Leaves nothing of the configuration of OwnedParams unread.
void complete_config(KernelParams& kernel);
/// What an exec would keep of `before` if it was updated to `after`, while CUDA says that it has updated it: "cluster
/// is (2, 1, 1), the update's is (1, 1, 1)"; empty if nothing. Asks CUDA about nodes that cudag did not make. Throws
/// GraphError.
[[nodiscard]] std::string kept_silently(const KernelParams& before, const KernelParams& after);
/// Whether there may be something of that kind. `plain`: functions of which it is known that there is not, which grows.
[[nodiscard]] bool may_keep_attributes(const KernelParams& kernel, std::unordered_set<CUfunction>& plain);
/// The same of a captured kernel node, of which CUDA's attributes tell all.
[[nodiscard]] bool may_keep_attributes(cudaGraphNode_t node);
/// Whether kernels may change the node; asks CUDA about a node that cudag did not make. Throws GraphError.
[[nodiscard]] bool is_device_updatable(const KernelParams& kernel);

} // namespace cudag::detail
