// An update of a node that frees memory.
// expect-error: cudag: CUDA cannot update alloc and free nodes; build another graph
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::FreeNode& node, const cudag::HostNode& host) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node);
    exec.update(host, [] {});
#else
    exec.update(host, [node] { static_cast<void>(node); });
#endif
}
