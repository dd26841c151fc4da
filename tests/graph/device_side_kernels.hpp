// Kernels that change nodes and launch graphs.
#pragma once

#include <cuda_runtime.h>

#include <cudag/device_exec.hpp>
#include <cudag/device_node.hpp>

/// The node of count_threads, in kernels.hpp.
using CountNode = cudag::DeviceNode<unsigned*, unsigned*, unsigned>;

/// Lets `node` launch *blocks blocks with `weight`, or none if *blocks is 0; *failures counts the calls that failed.
__global__ void plan(CountNode node, const unsigned* blocks, unsigned weight, unsigned* failures);
/// Lets `node` count in `count`.
__global__ void redirect(CountNode node, unsigned* count, unsigned* failures);

enum class DeviceLaunch { fire_and_forget, tail, sibling };

/// Launches `exec`.
__global__ void launch_graph(cudag::DeviceExec exec, DeviceLaunch how, unsigned* failures);
/// Adds 1 to *count, and launches its own graph again until *count is `times`.
__global__ void repeat(unsigned* count, unsigned times, unsigned* failures);
/// *in_graph = whether there is a current graph
__global__ void look_for_current(unsigned* in_graph);
