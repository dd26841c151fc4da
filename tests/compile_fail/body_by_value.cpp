// A body that takes its builder by value.
// expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, const cudag::Condition& c) {
#ifdef CUDAG_EXPECT_ERROR
    b.switch_(c, {[](cudag::GraphBuilder) {}});
#else
    b.switch_(c, {[](cudag::GraphBuilder&) {}});
#endif
}
