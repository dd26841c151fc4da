// A programmatic edge from a node of unknown kind.
// expect-error: cudag: a programmatic edge leads from kernel to kernel
#include <cudag/node.hpp>

void call([[maybe_unused]] const cudag::Node& node, [[maybe_unused]] void (*kernel)(int),
          const cudag::KernelNode<>& second) {
#ifdef CUDAG_EXPECT_ERROR
    second.after(cudag::programmatic(node));
#else
    second.after(cudag::programmatic(node.as(kernel)));
#endif
}
