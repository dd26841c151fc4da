// An update of a node that allocates memory.
// expect-error: cudag: CUDA cannot update alloc and free nodes; build another graph
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::AllocNode<int>& node, const cudag::MemsetNode& fill) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, 2);
    exec.update(fill, node.span(), 0);
#else
    exec.update(fill, node.span(), 0);
#endif
}
