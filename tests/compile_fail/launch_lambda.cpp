// A launch of a lambda.
// expect-error: cudag: a kernel is a __global__ function or a pointer to one
#include <cudag/launch.hpp>

__global__ void work(int n);

void call(cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::launch(
        stream, {}, [](int) {}, 16);
#else
    cudag::launch(stream, {}, work, 16);
#endif
}
