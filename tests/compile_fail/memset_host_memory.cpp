// A fill of host memory.
// expect-error: cudag: memset fills device memory; fill host memory with std::fill
#include <cudag/builder.hpp>

#include <vector>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<int>& host,
          [[maybe_unused]] const cudag::DeviceBuffer<int>& device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memset(host, 0);
#else
    builder.memset(device, 0);
#endif
}
