// An update by position with a double where the kernel takes an int.
// expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types below
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::arg<1>(16.0));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}
