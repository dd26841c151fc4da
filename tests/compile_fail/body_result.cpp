// A body that returns a value, which nobody would get.
// expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, const cudag::Condition& c) {
#ifdef CUDAG_EXPECT_ERROR
    b.while_(c, [](cudag::GraphBuilder&) { return 1; });
#else
    b.while_(c, [](cudag::GraphBuilder&) {});
#endif
}
