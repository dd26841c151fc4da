// A kernel with a reference parameter.
// expect-error: cudag: a kernel parameter cannot be a reference
#include <cudag/builder.hpp>

__global__ void by_reference(int& n);
__global__ void by_value(int n);

void call(cudag::GraphBuilder& builder, int n) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), by_reference, n);
#else
    builder.kernel(cudag::LaunchConfig(), by_value, n);
#endif
}
