// Elements that ask for more than a pool's alignment.
// expect-error: cudag: a CapturePool's memory is aligned to 256 bytes
#include <cudag/capture_pool.hpp>

#ifdef CUDAG_EXPECT_ERROR
struct alignas(512) Element {
#else
struct alignas(256) Element {
#endif
    char bytes[256];
};

void call(cudag::CapturePool& pool) {
    static_cast<void>(pool.allocate<Element>(4));
}
