// An update that gives a kernel nothing.
// expect-error: cudag: the number of arguments is not the number of the kernel's parameters
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node);
#else
    exec.update(node, cudag::LaunchConfig());
#endif
}
