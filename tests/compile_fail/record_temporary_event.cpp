// An event that is gone when the graph runs, recorded.
// expect-error: cudag: a temporary Event is gone when the graph runs; pass an lvalue or a shared_ptr
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, cudag::Event& event) {
#ifdef CUDAG_EXPECT_ERROR
    b.record(cudag::Event());
#else
    b.record(event);
#endif
}
