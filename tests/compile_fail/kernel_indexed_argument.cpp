// arg<I>, which is for updates, while building.
// expect-error: cudag: arg<I>(value) is for updates: kernel and launch take all arguments in order
#include <cudag/builder.hpp>

__global__ void work(int n);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, cudag::arg<0>(16));
#else
    builder.kernel(cudag::LaunchConfig(), work, 16);
#endif
}
