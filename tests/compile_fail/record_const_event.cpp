// A constant event, recorded.
// expect-error: cudag: recording changes an event, and this one is const
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, const cudag::Event& event) {
#ifdef CUDAG_EXPECT_ERROR
    b.record(event);
#else
    b.wait(event);
#endif
}
