// A node that comes after a number.
// expect-error: cudag: after() takes node handles or ranges of node handles
#include <cudag/node.hpp>

void call([[maybe_unused]] const cudag::HostNode& first, const cudag::HostNode& second) {
#ifdef CUDAG_EXPECT_ERROR
    second.after(0);
#else
    second.after(first);
#endif
}
