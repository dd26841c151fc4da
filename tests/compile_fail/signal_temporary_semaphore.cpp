// A semaphore that is gone when the graph runs, signalled.
// expect-error: cudag: it would be gone when the graph runs
#include <cudag/builder.hpp>

#include <utility>

void call(cudag::GraphBuilder& b, cudag::ExternalSemaphore& semaphore) {
#ifdef CUDAG_EXPECT_ERROR
    b.signal(cudag::SemaphoreSignal{std::move(semaphore), 1});
#else
    b.signal(cudag::SemaphoreSignal{semaphore, 1});
#endif
}
