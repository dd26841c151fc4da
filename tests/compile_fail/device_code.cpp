// Functions for kernels, called in kernels.
#define CUDART_CPU_DEVICE_CODE // device functions are defined, as in a .cu file
#include "device_functions.hpp"

#include <cudag/device_node.hpp>

// A kernel that sets an argument that there is not.
void device_argument_index(cudag::DeviceNode<float, int*> node, [[maybe_unused]] int* pointer) {
#if CUDAG_MISTAKE == 1 // expect-error: cudag: set_argument<I>: the kernel has no parameter I
    node.set_argument<2>(1);
#else
    node.set_argument<0>(1.0F);
    node.set_argument<1>(pointer);
#endif
}

// A kernel that sets an argument of another type.
void device_argument_type(cudag::DeviceNode<float, int*> node, [[maybe_unused]] int* pointer) {
#if CUDAG_MISTAKE == 2 // expect-error: cudag: set_argument<I> takes a value of the parameter's own type; cast it
    node.set_argument<0>(1);
#else
    node.set_argument<0>(1.0F);
    node.set_argument<1>(pointer);
#endif
}
