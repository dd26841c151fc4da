// A number where a conditional takes a condition.
// expect-error: cudag: while_(condition, body), with a Condition of builder.condition()
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, const cudag::Condition& c) {
#ifdef CUDAG_EXPECT_ERROR
    b.while_(1, [](cudag::GraphBuilder&) {});
    static_cast<void>(c);
#else
    b.while_(c, [](cudag::GraphBuilder&) {});
#endif
}
