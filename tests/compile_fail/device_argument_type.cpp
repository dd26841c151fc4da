// A kernel that sets an argument of another type.
// expect-error: cudag: set_argument<I> takes a value of the parameter's own type; cast it
#define CUDART_CPU_DEVICE_CODE // device functions are defined, as in a .cu file
#include "device_functions.hpp"

#include <cudag/device_node.hpp>

void call(cudag::DeviceNode<float, int*> node, [[maybe_unused]] int* pointer) {
#ifdef CUDAG_EXPECT_ERROR
    node.set_argument<0>(1);
#else
    node.set_argument<0>(1.0F);
    node.set_argument<1>(pointer);
#endif
}
