// A copy that starts with a kernel.
// expect-error: cudag: a programmatic edge leads from kernel to kernel
#include <cudag/node.hpp>

void call(const cudag::KernelNode<>& kernel, const cudag::MemcpyNode& copy) {
#ifdef CUDAG_EXPECT_ERROR
    copy.after(cudag::launch_completion(kernel));
#else
    copy.after(kernel);
#endif
}
