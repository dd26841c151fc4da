// An update with an argument too few.
// expect-error: cudag: the number of arguments is not the number of the kernel's parameters
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node, float* x) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, x);
#else
    exec.update(node, x, 16);
#endif
}
