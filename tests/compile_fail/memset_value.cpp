// A fill with a double of memory of floats.
// expect-error: cudag: memset value cannot become the element type; see the types below
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<float>& floats) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset(floats, 1.0);
#else
    builder.memset(floats, 1.0f);
#endif
}
