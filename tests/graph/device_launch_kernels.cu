// Kernels that launch graphs.
#include "device_launch_kernels.hpp"

namespace {

__device__ void note(cudaError_t status, unsigned* failures) {
    if (status != cudaSuccess) atomicAdd(failures, 1U);
}

} // namespace

__global__ void launch_graph(cudag::DeviceExec exec, DeviceLaunch how, unsigned* failures) {
    if (how == DeviceLaunch::fire_and_forget)
        note(exec.launch_fire_and_forget(), failures);
    else if (how == DeviceLaunch::tail)
        note(exec.launch_tail(), failures);
    else
        note(exec.launch_sibling(), failures);
}

__global__ void repeat(unsigned* count, unsigned times, unsigned* failures) {
    if (++*count < times) note(cudag::DeviceExec::current().launch_tail(), failures);
}

__global__ void look_for_current(unsigned* in_graph) {
    *in_graph = cudag::DeviceExec::current() ? 1U : 0U;
}
