// An argument that the kernel does not have.
// expect-error: cudag: get<I>(): the kernel has no parameter I
#include <cudag/node.hpp>

int call(const cudag::KernelNode<float*, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    static_cast<void>(node.get<2>());
#endif
    return node.get<1>();
}
