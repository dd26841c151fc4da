// A fill of 8-byte elements.
// expect-error: cudag: memset elements have 1, 2 or 4 bytes
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::DeviceBuffer<double>& doubles,
          [[maybe_unused]] const cudag::DeviceBuffer<float>& floats) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset(doubles, 0);
#else
    builder.memset(floats, 0);
#endif
}
