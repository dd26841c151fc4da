// An update of a host node with a function that takes parameters.
// expect-error: cudag: a host node calls a function without arguments
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::HostNode& node) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, [](int) {});
#else
    exec.update(node, [] {});
#endif
}
