// Order of streams on any devices, by events.
#include "stream_order.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"

#include <optional>
#include <utility>

namespace cudag::detail {

namespace {

/// Makes an event of the current device.
OrderResult make_event(UniqueEvent& event) {
    cudaEvent_t made = nullptr;
    const cudaError_t status = cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    if (status == cudaSuccess) event.reset(made);
    return {status, "cudaEventCreateWithFlags"};
}

/// Uses an event of the device of `before`.
OrderResult order_by(cudaEvent_t event, cudaStream_t before, cudaStream_t after) {
    if (const cudaError_t status = cudaEventRecord(event, before); status != cudaSuccess)
        return {status, "cudaEventRecord"};
    return {cudaStreamWaitEvent(after, event, cudaEventWaitDefault), "cudaStreamWaitEvent"};
}

/// Uses an event of the current device.
OrderResult order_here(cudaStream_t before, cudaStream_t after) {
    UniqueEvent event;
    if (const OrderResult made = make_event(event); made.status != cudaSuccess) return made;
    return order_by(event.get(), before, after);
}

} // namespace

OrderResult StreamOrders::order(cudaStream_t before, cudaStream_t after) {
    int device = 0;
    if (!is_only_device()) {
        const std::optional<int> known = device_by_context(before);
        if (!known) return order_streams(before, after);
        device = *known;
    }
    const CUcontext context = current_context();
    if (event_ == nullptr || device != device_ || context != context_) {
        std::optional<DeviceGuard> guard;
        if (!is_only_device()) guard.emplace(device);
        UniqueEvent event;
        if (const OrderResult made = make_event(event); made.status != cudaSuccess) return made;
        event_ = std::move(event);
        device_ = device;
        context_ = context;
    }
    return order_by(event_.get(), before, after);
}

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
