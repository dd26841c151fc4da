// A captured region that comes after a number.
// expect-error: cudag: after() of a region takes node handles, ranges of node handles or other regions
#include <cudag/captured_node.hpp>

void call([[maybe_unused]] const cudag::HostNode& first, const cudag::CapturedNode& region) {
#ifdef CUDAG_EXPECT_ERROR
    region.after(0);
#else
    region.after(first, region);
#endif
}
