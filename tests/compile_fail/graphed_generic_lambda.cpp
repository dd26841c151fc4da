// A generic lambda without a signature.
// expect-error: cudag: a GraphedFunction has a signature such as Output(cudaStream_t, DeviceSpan<const float>); write
// it
#include <cudag/graphed_function.hpp>

void call([[maybe_unused]] cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::GraphedFunction f([](auto) {});
#else
    cudag::GraphedFunction<void(cudaStream_t)> f([](auto) {});
#endif
}
