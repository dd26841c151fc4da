// A body that takes something other than a builder.
// expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, const cudag::Condition& c) {
#ifdef CUDAG_EXPECT_ERROR
    b.if_(c, [](cudag::Graph&) {});
#else
    b.if_(c, [](cudag::GraphBuilder&) {});
#endif
}
