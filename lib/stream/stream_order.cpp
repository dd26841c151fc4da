// Order of streams on any devices, by events.
#include "stream_order.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"

#include <optional>

namespace cudag::detail {

namespace {

/// Uses an event of the current device.
OrderResult order_here(cudaStream_t before, cudaStream_t after) {
    cudaEvent_t made = nullptr;
    if (const cudaError_t status = cudaEventCreateWithFlags(&made, cudaEventDisableTiming); status != cudaSuccess)
        return {status, "cudaEventCreateWithFlags"};
    const UniqueEvent event(made);
    if (const cudaError_t status = cudaEventRecord(made, before); status != cudaSuccess)
        return {status, "cudaEventRecord"};
    return {cudaStreamWaitEvent(after, made, cudaEventWaitDefault), "cudaStreamWaitEvent"};
}

} // namespace

OrderResult order_streams(cudaStream_t before, cudaStream_t after) {
    int devices = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&devices); status != cudaSuccess)
        return {status, "cudaGetDeviceCount"};
    if (devices == 1) return order_here(before, after);
    if (const std::optional<int> device = device_by_context(before)) {
        const DeviceGuard guard(*device);
        return order_here(before, after);
    }
    const OrderResult here = order_here(before, after);
    if (here.status != cudaErrorInvalidResourceHandle) return here;
    OrderResult there = here;
    const bool is_there = succeeds_on_another_device([&] {
        there = order_here(before, after);
        return there.status != cudaErrorInvalidResourceHandle;
    });
    if (there.status == cudaSuccess) ignore(here.status);
    return is_there ? there : here;
}

} // namespace cudag::detail
