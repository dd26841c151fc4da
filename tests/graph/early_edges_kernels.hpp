// Kernels joined by an early edge. Only NVIDIA's runtime has them: the CPU runtime runs one node at a time.
#pragma once

#include <cuda_runtime.h>

/// Triggers, waits until *begun is not 0 (two seconds at most; *overlapped says whether it was), then writes.
__global__ void trigger_then_write(int* cell, int value, const unsigned* begun, unsigned* overlapped);
/// *seen = *cell, in the order that the edge gives; *begun = 1 afterwards.
__global__ void read_at_once(int* seen, const int* cell, unsigned* begun);
/// *begun = 1; *seen = *cell when the kernel before has finished.
__global__ void read_after_wait(int* seen, const int* cell, unsigned* begun);
