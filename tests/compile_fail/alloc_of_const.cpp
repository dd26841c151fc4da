// Graph memory of constants.
// expect-error: cudag: graph memory holds trivially copyable, non-const elements
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b) {
#ifdef CUDAG_EXPECT_ERROR
    b.alloc<const int>(1);
#else
    b.alloc<int>(1);
#endif
}
