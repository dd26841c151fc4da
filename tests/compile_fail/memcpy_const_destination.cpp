// A copy to const memory.
// expect-error: cudag: the destination of a memcpy is const
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan<const float> constant, cudag::DeviceSpan<float> variable) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(constant, variable);
#else
    builder.memcpy(variable, constant);
#endif
}
