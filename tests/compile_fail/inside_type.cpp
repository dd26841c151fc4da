// A handle found inside a child is as typed as the one given.
// expect-error: KernelNode<float>
#include <cudag/builder.hpp>

void call(const cudag::ChildNode& child, const cudag::KernelNode<int>& kernel) {
#ifdef CUDAG_EXPECT_ERROR
    const cudag::KernelNode<float> found = child.inside(kernel);
    static_cast<void>(found);
#else
    const cudag::KernelNode<int> found = child.inside(kernel);
    static_cast<void>(found);
#endif
}
