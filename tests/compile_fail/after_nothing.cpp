// A node that comes after nothing.
// expect-error: cudag: after() needs at least one node
#include <cudag/node.hpp>

void order(const cudag::HostNode& first, const cudag::HostNode& second) {
#ifdef CUDAG_EXPECT_ERROR
    (void)first;
    second.after();
#else
    second.after(first);
#endif
}
