// An argument that is more than its bytes.
// expect-error: cudag: get<I>(): the parameter is not trivially copyable
#include <cudag/node.hpp>

#include <string>

int call(const cudag::KernelNode<std::string, int>& node) {
#ifdef CUDAG_EXPECT_ERROR
    static_cast<void>(node.get<0>());
#endif
    return node.get<1>();
}
