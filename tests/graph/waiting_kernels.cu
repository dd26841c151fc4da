// Kernels at the end of an early edge.
#include "waiting_kernels.hpp"

#include <cudag/wait_for_previous.hpp>

__global__ void wait_and_add(int* to, const int* from, int value) {
    cudag::wait_for_previous();
    *to = *from + value;
}

__global__ void let_next_start_then_add(int* to, const int* from, int value) {
    cudag::let_next_start();
    cudag::wait_for_previous();
    *to = *from + value;
}
