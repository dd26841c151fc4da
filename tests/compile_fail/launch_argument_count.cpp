// A launch with an argument too many.
// expect-error: cudag: the number of arguments is not the number of the kernel's parameters
#include <cudag/launch.hpp>

__global__ void work(int n);

void call(cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::launch(stream, {}, work, 16, 2);
#else
    cudag::launch(stream, {}, work, 16);
#endif
}
