// Fewer inputs than the function has.
// expect-error: cudag: forward() takes one input for each DeviceSpan of the function
#include <cudag/graphed_function.hpp>

#include <vector>

void call([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    [[maybe_unused]] const std::vector<int> input(3);
#ifdef CUDAG_EXPECT_ERROR
    f.forward(stream);
#else
    f.forward(stream, input);
#endif
}
