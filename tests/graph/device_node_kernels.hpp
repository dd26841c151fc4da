// Kernels that change other kernel nodes.
#pragma once

#include <cuda_runtime.h>

#include <cudag/device_node.hpp>

/// The node of count_threads, in kernels.hpp.
using CountNode = cudag::DeviceNode<unsigned*, unsigned*, unsigned>;

/// Lets `node` launch *blocks blocks with `weight`, or none if *blocks is 0; *failures counts the calls that failed.
__global__ void plan(CountNode node, const unsigned* blocks, unsigned weight, unsigned* failures);
/// Lets `node` count in `count`.
__global__ void redirect(CountNode node, unsigned* count, unsigned* failures);
