// A launch with a double where the kernel takes an int.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/launch.hpp>

__global__ void work(int n);

void call(cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::launch(stream, {}, work, 16.0);
#else
    cudag::launch(stream, {}, work, 16);
#endif
}
