// A copy of a CapturePool.
// expect-error: cudag: a CapturePool has one owner: std::move(pool)
#include <cudag/capture_pool.hpp>

#include <utility>

void call(cudag::CapturePool& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::CapturePool other = owner;
    static_cast<void>(other);
#else
    cudag::CapturePool other = std::move(owner);
    static_cast<void>(other);
#endif
}
