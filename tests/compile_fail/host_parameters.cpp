// A host node with a function that takes parameters.
// expect-error: cudag: a host node calls a function without arguments
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& builder) {
#ifdef CUDAG_EXPECT_ERROR
    builder.host([](int) {});
#else
    builder.host([] {});
#endif
}
