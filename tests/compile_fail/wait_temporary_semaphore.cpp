// A semaphore that is gone when the graph runs, waited for.
// expect-error: cudag: it would be gone when the graph runs
#include <cudag/builder.hpp>

void call(cudag::GraphBuilder& b, cudag::ExternalSemaphore& semaphore) {
#ifdef CUDAG_EXPECT_ERROR
    b.wait(cudag::SemaphoreWait{cudag::ExternalSemaphore::import_timeline(3), 1});
#else
    b.wait(cudag::SemaphoreWait{semaphore, 1});
#endif
}
