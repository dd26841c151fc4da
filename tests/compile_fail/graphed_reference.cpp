// An output that is somebody else's.
// expect-error: cudag: a graphed function returns its outputs by value, not by reference
#include <cudag/graphed_function.hpp>

void call([[maybe_unused]] cudaStream_t stream) {
    int value = 0;
#ifdef CUDAG_EXPECT_ERROR
    cudag::GraphedFunction f([&](cudaStream_t) -> int& { return value; });
#else
    cudag::GraphedFunction f([&](cudaStream_t) { return value; });
#endif
}
