// An input of other elements than the function's.
// expect-error: cudag: an input of forward() needs the element type of the function's DeviceSpan
#include <cudag/graphed_function.hpp>

#include <vector>

void call([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    const std::vector<int> input(3);
    [[maybe_unused]] const std::vector<float> other(3);
#ifdef CUDAG_EXPECT_ERROR
    f.forward(stream, other);
#else
    f.forward(stream, input);
#endif
}
