// An update by position with a double where the kernel takes an int.
// expect-error: cudag: a number must not lose by becoming the parameter's type: write it in that type, such as 2.0f
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::arg<1>(16.0));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}
