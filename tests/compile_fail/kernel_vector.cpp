// A std::vector, which is host memory, as a kernel argument.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

#include <vector>

__global__ void work(float* x);

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<float>& host,
          [[maybe_unused]] const cudag::DeviceBuffer<float>& device) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, host);
#else
    builder.kernel(cudag::LaunchConfig(), work, device);
#endif
}
