// A function that does not have the signature.
// expect-error: cudag: the function cannot be called with a cudaStream_t and the DeviceSpans of the signature
#include <cudag/graphed_function.hpp>

void call([[maybe_unused]] cudaStream_t stream) {
    using Graphed = cudag::GraphedFunction<void(cudaStream_t, cudag::DeviceSpan<const int>)>;
#ifdef CUDAG_EXPECT_ERROR
    Graphed f([](cudaStream_t) {});
#else
    Graphed f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
#endif
}
