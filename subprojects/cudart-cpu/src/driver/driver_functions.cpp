// The driver's functions for launches, fills and errors.
#include "driver_functions.hpp"
#include "driver_frame.hpp"

#include "capture/capture.hpp"
#include "kernel/node_arguments.hpp"
#include "memory/allocations.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/driver_errors.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"
#include "submit/launch_submit.hpp"
#include "submit/set_submit.hpp"

#include <optional>
#include <vector>

namespace cudart_cpu::detail::driver {

namespace {

/// Elements in rows.
struct Rows {
    std::size_t width;
    std::size_t height = 1;
    std::size_t pitch = 0;
};

cudaMemsetParams fill(CUdeviceptr destination, unsigned value, unsigned size, const Rows& rows) noexcept {
    cudaMemsetParams set{};
    set.dst = reinterpret_cast<void*>(destination);
    set.value = value;
    set.elementSize = size;
    set.width = rows.width;
    set.height = rows.height;
    set.pitch = rows.pitch;
    return set;
}

CUresult set_elements(const char* name, CUdeviceptr destination, unsigned value, unsigned size, const Rows& rows,
                      CUstream stream) noexcept {
    return answer(name, [&] {
        require_context_of(stream);
        submit_set(fill(destination, value, size, rows), stream_of(stream));
    });
}

CUresult set_elements_now(const char* name, CUdeviceptr destination, unsigned value, unsigned size,
                          const Rows& rows) noexcept {
    return answer_in_context(name, [&] { submit_set_on_default_stream(fill(destination, value, size, rows)); });
}

/// Throws unless the stream belongs to the device whose context has loaded the function.
void require_stream_of_function(CUstream handle, CUfunction function) {
    require_context_of(handle);
    const KernelEntry& kernel = kernel_of(function); // throws
    if (stream_of(handle).device() != device_of_function(function).value_or(current_device()))
        fail(cudaErrorInvalidResourceHandle,
             text("CUDA Stream must be associated with the same CUDA Context that loaded CUFunction ",
                  kernel_name(kernel)));
}

} // namespace

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                       void** extra) {
    return answer("cuLaunchKernel", [&] {
        require_stream_of_function(stream, function);
        submit_launch(
            {kernel_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, params, extra},
            stream);
    });
}

CUresult launch_cooperative_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** params) {
    return answer("cuLaunchCooperativeKernel", [&] {
        require_stream_of_function(stream, function);
        cudaLaunchAttribute cooperative{};
        cooperative.id = cudaLaunchAttributeCooperative;
        cooperative.val.cooperative = 1;
        submit_launch(
            {kernel_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, params, nullptr},
            stream, &cooperative, 1);
    });
}

// The runtime's attributes are the driver's under other names.
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));

CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
    return answer("cuLaunchKernelEx", [&] {
        require_pointer(config, "config");
        require_stream_of_function(config->hStream, function);
        submit_launch({kernel_of(function),
                       {config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ},
                       config->sharedMemBytes,
                       params,
                       extra},
                      config->hStream, reinterpret_cast<cudaLaunchAttribute*>(config->attrs), config->numAttrs);
    });
}

CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
    return answer("cuStreamIsCapturing", [&] {
        require_pointer(status, "captureStatus");
        const std::lock_guard lock(graph_mutex());
        *status = static_cast<CUstreamCaptureStatus>(capture_status_of(stream_of(stream)));
    });
}

CUresult memset_d8_async(CUdeviceptr destination, unsigned char value, std::size_t count, CUstream stream) {
    return set_elements("cuMemsetD8Async", destination, value, 1, {count}, stream);
}

CUresult memset_d16_async(CUdeviceptr destination, unsigned short value, std::size_t count, CUstream stream) {
    return set_elements("cuMemsetD16Async", destination, value, 2, {count}, stream);
}

CUresult memset_d32_async(CUdeviceptr destination, unsigned value, std::size_t count, CUstream stream) {
    return set_elements("cuMemsetD32Async", destination, value, 4, {count}, stream);
}

CUresult memset_2d_d8_async(CUdeviceptr destination, std::size_t pitch, unsigned char value, std::size_t width,
                            std::size_t height, CUstream stream) {
    return set_elements("cuMemsetD2D8Async", destination, value, 1, {width, height, pitch}, stream);
}

CUresult memset_2d_d16_async(CUdeviceptr destination, std::size_t pitch, unsigned short value, std::size_t width,
                             std::size_t height, CUstream stream) {
    return set_elements("cuMemsetD2D16Async", destination, value, 2, {width, height, pitch}, stream);
}

CUresult memset_2d_d32_async(CUdeviceptr destination, std::size_t pitch, unsigned value, std::size_t width,
                             std::size_t height, CUstream stream) {
    return set_elements("cuMemsetD2D32Async", destination, value, 4, {width, height, pitch}, stream);
}

CUresult memset_d8(CUdeviceptr destination, unsigned char value, std::size_t count) {
    return set_elements_now("cuMemsetD8_v2", destination, value, 1, {count});
}

CUresult memset_d16(CUdeviceptr destination, unsigned short value, std::size_t count) {
    return set_elements_now("cuMemsetD16_v2", destination, value, 2, {count});
}

CUresult memset_d32(CUdeviceptr destination, unsigned value, std::size_t count) {
    return set_elements_now("cuMemsetD32_v2", destination, value, 4, {count});
}

CUresult memset_2d_d8(CUdeviceptr destination, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
    return set_elements_now("cuMemsetD2D8_v2", destination, value, 1, {width, height, pitch});
}

CUresult memset_2d_d16(CUdeviceptr destination, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
    return set_elements_now("cuMemsetD2D16_v2", destination, value, 2, {width, height, pitch});
}

CUresult memset_2d_d32(CUdeviceptr destination, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
    return set_elements_now("cuMemsetD2D32_v2", destination, value, 4, {width, height, pitch});
}

CUresult get_error_name(CUresult error, const char** name) {
    return static_cast<CUresult>(driver_api_anytime("cuGetErrorName", [&] {
        require_pointer(name, "pStr");
        *name = driver_error_name(number_in(error));
        return *name ? cudaSuccess : cudaErrorInvalidValue;
    }));
}

CUresult get_error_string(CUresult error, const char** description) {
    return static_cast<CUresult>(driver_api_anytime("cuGetErrorString", [&] {
        require_pointer(description, "pStr");
        const int code = number_in(error);
        *description = driver_error_name(code) ? cudaGetErrorString(static_cast<cudaError_t>(code)) : nullptr;
        return *description ? cudaSuccess : cudaErrorInvalidValue;
    }));
}

} // namespace cudart_cpu::detail::driver
