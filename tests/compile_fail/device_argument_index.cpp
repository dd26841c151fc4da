// A kernel that sets an argument that there is not.
// expect-error: cudag: set_argument<I>: the kernel has no parameter I
#define CUDART_CPU_DEVICE_CODE // device functions are defined, as in a .cu file
#include "device_functions.hpp"

#include <cudag/device_node.hpp>

void call(cudag::DeviceNode<float, int*> node, [[maybe_unused]] int* pointer) {
#ifdef CUDAG_EXPECT_ERROR
    node.set_argument<2>(1);
#else
    node.set_argument<0>(1.0F);
    node.set_argument<1>(pointer);
#endif
}
