// A 2D memset of host memory.
// expect-error: cudag: memset fills device memory; fill host memory with std::fill
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> memory) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset2d(cudag::HostSpan2D<int>(memory.data(), 4, 2), 1);
#else
    builder.memset2d(memory, 1);
#endif
}
