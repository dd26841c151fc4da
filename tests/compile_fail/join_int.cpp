// A join of a number.
// expect-error: cudag: join() takes node handles or ranges of node handles
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::HostNode& node) {
#ifdef CUDAG_EXPECT_ERROR
    builder.join(0);
#else
    builder.join(node);
#endif
}
