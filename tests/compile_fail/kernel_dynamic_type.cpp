// A DynamicParam of another type than the kernel's parameter.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>
#include <cudag/dynamic_param.hpp>

__global__ void work(float factor);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    const cudag::DynamicParam<int> factor(2);
#else
    const cudag::DynamicParam<float> factor(2.0f);
#endif
    builder.kernel(cudag::LaunchConfig(), work, factor);
}
