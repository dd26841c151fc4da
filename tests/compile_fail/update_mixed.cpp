// An update that mixes arguments by position with plain ones.
// expect-error: cudag: an update takes all arguments, or arg<I>(value) for each that changes
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node, float* x) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, x, cudag::arg<1>(16));
#else
    exec.update(node, cudag::arg<0>(x), cudag::arg<1>(16));
#endif
}
