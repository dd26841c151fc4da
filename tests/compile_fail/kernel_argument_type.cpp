// A double where the kernel takes an int.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/builder.hpp>

__global__ void scale(float* x, int n, float factor);

void call(cudag::GraphBuilder& builder, float* x) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), scale, x, 16.0, 2.0f);
#else
    builder.kernel(cudag::LaunchConfig(), scale, x, 16, 2.0f);
#endif
}
