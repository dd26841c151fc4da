// A kernel call with an argument too few.
// expect-error: cudag: the number of arguments is not the number of the kernel's parameters
#include <cudag/builder.hpp>

__global__ void scale(float* x, int n, float factor);

void call(cudag::GraphBuilder& builder, float* x) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), scale, x, 16);
#else
    builder.kernel(cudag::LaunchConfig(), scale, x, 16, 2.0f);
#endif
}
