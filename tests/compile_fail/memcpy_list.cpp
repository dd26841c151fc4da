// A copy from a range that is not contiguous.
// expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host range, or a shared_ptr
#include <cudag/builder.hpp>

#include <list>
#include <vector>

void call(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to, [[maybe_unused]] std::list<int>& list,
          [[maybe_unused]] std::vector<int>& vector) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(to, list);
#else
    builder.memcpy(to, vector);
#endif
}
