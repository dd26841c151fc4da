// A join of nothing.
// expect-error: cudag: join() needs at least one node
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::HostNode& node) {
#ifdef CUDAG_EXPECT_ERROR
    builder.join();
#else
    builder.join(node);
#endif
}
