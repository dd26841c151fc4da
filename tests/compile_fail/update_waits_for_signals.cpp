// What a node is to signal, given to one that waits.
// expect-error: cudag: update(node, {semaphore, value}): SemaphoreSignals for a SignalNode
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::SemaphoreWaitNode& node, cudag::ExternalSemaphore& semaphore) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, cudag::SemaphoreSignal{semaphore, 1});
#else
    exec.update(node, cudag::SemaphoreWait{semaphore, 1});
#endif
}
