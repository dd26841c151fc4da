// An update that names a parameter twice.
// expect-error: cudag: arg<I> names a parameter twice
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::arg<1>(16), cudag::arg<1>(17));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}
