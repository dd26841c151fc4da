// Kernels that launch graphs.
#pragma once

#include <cuda_runtime.h>

#include <cudag/device_exec.hpp>

enum class DeviceLaunch { fire_and_forget, tail, sibling };

/// Launches `exec`; *failures counts the calls that failed.
__global__ void launch_graph(cudag::DeviceExec exec, DeviceLaunch how, unsigned* failures);
/// Adds 1 to *count, and launches its own graph again until *count is `times`.
__global__ void repeat(unsigned* count, unsigned times, unsigned* failures);
/// *in_graph = whether there is a current graph
__global__ void look_for_current(unsigned* in_graph);
