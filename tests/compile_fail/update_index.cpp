// An update of a parameter that the kernel does not have.
// expect-error: cudag: arg<I>: the kernel has no parameter I
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::arg<2>(16));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}
