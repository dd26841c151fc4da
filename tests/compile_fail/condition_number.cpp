// A number where a kernel takes a condition.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type
#include <cudag/builder.hpp>

__global__ void stop(cudag::Condition condition);

void call(cudag::GraphBuilder& b, const cudag::Condition& c) {
#ifdef CUDAG_EXPECT_ERROR
    b.kernel({}, stop, 1);
    static_cast<void>(c);
#else
    b.kernel({}, stop, c);
#endif
}
