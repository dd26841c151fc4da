// An int where the kernel takes an enum.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/builder.hpp>

enum class Mode { fast, exact };

__global__ void work(Mode mode);

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.kernel(cudag::LaunchConfig(), work, 1);
#else
    builder.kernel(cudag::LaunchConfig(), work, Mode::exact);
#endif
}
