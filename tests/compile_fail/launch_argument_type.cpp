// A launch with a double where the kernel takes an int.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/launch.hpp>

__global__ void work(int n);

void call(cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::launch(stream, {}, work, 16.0);
#else
    cudag::launch(stream, {}, work, 16);
#endif
}
