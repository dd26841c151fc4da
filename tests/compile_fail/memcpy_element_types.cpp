// A copy between different element types.
// expect-error: cudag: memcpy needs the same element type on both sides
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<float>& to,
          [[maybe_unused]] cudag::DeviceSpan<int> ints, [[maybe_unused]] cudag::DeviceSpan<float> floats) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(to, ints);
#else
    builder.memcpy(to, floats);
#endif
}
