// A number, recorded.
// expect-error: cudag: an event is a cudag::Event, a shared_ptr to one, or a cudaEvent_t
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, cudaEvent_t event) {
#ifdef CUDAG_EXPECT_ERROR
    b.record(event != nullptr ? 1 : 0);
#else
    b.record(event);
#endif
}
