// A kernel that nothing can run.
#include "kernels.hpp"

__global__ void touch(int* x) {
    *x = 1;
}
