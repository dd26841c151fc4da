// An update with a double where the kernel takes an int.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node, float* x) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, x, 16.0);
#else
    exec.update(node, x, 16);
#endif
}
