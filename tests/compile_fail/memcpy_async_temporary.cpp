// A copy in a stream to a temporary vector.
// expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
#include <cudag/launch.hpp>

#include <vector>

void call(cudaStream_t stream, [[maybe_unused]] std::vector<int>& to, const cudag::DeviceBuffer<int>& from) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::memcpy_async(stream, std::vector<int>(4), from);
#else
    cudag::memcpy_async(stream, to, from);
#endif
}
