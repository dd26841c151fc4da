// An input that has no length.
// expect-error: cudag: the inputs of a graphed function are DeviceSpans
#include <cudag/graphed_function.hpp>

void call([[maybe_unused]] cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::GraphedFunction f([](cudaStream_t, const int*) {});
#else
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
#endif
}
