// A fill in a stream with a float of memory of ints.
// expect-error: cudag: memset value cannot become the element type; see the types below
#include <cudag/launch.hpp>

void call(cudaStream_t stream, cudag::DeviceSpan<int> to) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::memset_async(stream, to, 1.0f);
#else
    cudag::memset_async(stream, to, 1);
#endif
}
