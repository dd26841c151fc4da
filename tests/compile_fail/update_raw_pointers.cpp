// An update of a copy with raw pointers.
// expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host range, or a shared_ptr
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::MemcpyNode& node, float* to, const float* from) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, to, from);
#else
    exec.update(node, cudag::DeviceSpan<float>(to, 4), cudag::DeviceSpan<const float>(from, 4));
#endif
}
