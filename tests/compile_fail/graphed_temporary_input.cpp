// An input that is gone before it is copied.
// expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
#include <cudag/graphed_function.hpp>

#include <vector>

void call([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    [[maybe_unused]] const std::vector<int> input(3);
#ifdef CUDAG_EXPECT_ERROR
    f.forward(stream, std::vector<int>(3));
#else
    f.forward(stream, input);
#endif
}
