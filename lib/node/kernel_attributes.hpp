// The attributes of kernel nodes: given to CUDA, and read back.
#pragma once

#include "cuda/failure.hpp"
#include "launch_attributes.hpp"
#include "node_params.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Gives a new node its attributes; if CUDA refuses one, destroys the node and throws GraphError.
void set_attributes(cudaGraphNode_t node, const LaunchConfig& config, Subject&& subject);

/// Throws GraphError if CUDA refuses the attributes of a launch: tried in a graph of its own, for the sake of graphs
/// whose nodes CUDA does not destroy.
void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, Subject&& subject);

/// The configuration of a node with all attributes, those of a node that cudag did not make being read now. Throws
/// GraphError.
[[nodiscard]] LaunchConfig full_config(const KernelParams& kernel);
/// Leaves nothing of the configuration unread.
void complete_config(KernelParams& kernel);
/// Whether kernels may change the node; asks CUDA about a node that cudag did not make. Throws GraphError.
[[nodiscard]] bool is_device_updatable(const KernelParams& kernel);

} // namespace cudag::detail
