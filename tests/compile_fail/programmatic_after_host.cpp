// A kernel that starts when a host function triggers.
// expect-error: cudag: a programmatic edge leads from kernel to kernel
#include <cudag/node.hpp>

void call([[maybe_unused]] const cudag::HostNode& host, [[maybe_unused]] const cudag::KernelNode<int>& kernel,
          const cudag::KernelNode<>& second) {
#ifdef CUDAG_EXPECT_ERROR
    second.after(cudag::programmatic(host));
#else
    second.after(cudag::programmatic(kernel));
#endif
}
