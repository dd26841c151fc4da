// An update of a fill with a value that is not of the element type.
// expect-error: cudag: memset value cannot become the element type; see the types below
#include <cudag/exec.hpp>

void call(cudag::Exec& exec, const cudag::MemsetNode& node, cudag::DeviceSpan<float> to) {
#ifdef CUDAG_EXPECT_ERROR
    exec.update(node, to, 1.0);
#else
    exec.update(node, to, 1.0f);
#endif
}
