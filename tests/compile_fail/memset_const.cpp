// A fill of const memory.
// expect-error: cudag: the destination of a memset is const
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan<const int> constant,
          [[maybe_unused]] cudag::DeviceSpan<int> variable) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset(constant, 0);
#else
    builder.memset(variable, 0);
#endif
}
