// 0 as a stream in a launch: the default stream by mistake.
// expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, [[maybe_unused]] cudaStream_t stream) {
#ifdef CUDAG_EXPECT_ERROR
    exec.launch(0);
#else
    exec.launch(stream);
#endif
}
