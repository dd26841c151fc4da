// The driver's functions for kernels, memory, contexts and errors.
#include "driver_functions.hpp"

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

template <class Body>
CUresult answer(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, std::forward<Body>(body)));
}

/// Elements in rows.
struct Rows {
    std::size_t width;
    std::size_t height = 1;
    std::size_t pitch = 0;
};

CUresult set_elements(const char* name, CUdeviceptr destination, unsigned value, unsigned size, const Rows& rows,
                      CUstream stream) noexcept {
    return answer(name, [&] {
        cudaMemsetParams set{};
        set.dst = reinterpret_cast<void*>(destination);
        set.value = value;
        set.elementSize = size;
        set.width = rows.width;
        set.height = rows.height;
        set.pitch = rows.pitch;
        submit_set(set, stream_of(stream));
    });
}

int contexts[max_devices]; // only their addresses have a meaning

CUcontext context_of(int device) noexcept {
    return reinterpret_cast<CUcontext>(&contexts[device]);
}

int device_of(CUcontext context) {
    for (int device = 0; device < static_cast<int>(device_count()); ++device)
        if (context_of(device) == context) return device;
    fail(cudaErrorDeviceUninitialized, text("context ", context, " is not alive"));
}

/// This thread's devices below the current one.
thread_local std::vector<int> pushed_over;

} // namespace

CUresult kernel_get_function(CUfunction* function, CUkernel kernel) {
    return answer("cuKernelGetFunction", [&] {
        require_pointer(function, "pFunc");
        *function = function_of(kernel_of(kernel));
    });
}

CUresult func_get_name(const char** name, CUfunction function) {
    return answer("cuFuncGetName", [&] {
        require_pointer(name, "name");
        *name = kernel_name(kernel_of(function)).c_str();
    });
}

CUresult func_get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    return answer("cuFuncGetAttribute", [&] {
        require_pointer(value, "pi");
        const KernelEntry& kernel = kernel_of(function);
        switch (attribute) {
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
            *value = kernel.translated != nullptr ? static_cast<int>(kernel.module->architecture)
                                                  : compute_major * 10 + compute_minor;
            return;
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = static_cast<int>(max_threads_per_block);
            return;
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: // kernels compiled as C++ have no __cluster_dims__
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
            *value = 0;
            return;
        default:
            fail(cudaErrorInvalidValue,
                 text("function attribute ", static_cast<int>(attribute), " cannot be read on cudart-cpu"));
        }
    });
}

CUresult func_get_param_count(CUfunction function, std::size_t* count) {
    return answer("cuFuncGetParamCount", [&] {
        const KernelEntry& kernel = kernel_of(function);
        require_pointer(count, "paramCount");
        *count = kernel.params.size();
    });
}

CUresult func_get_param_info(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
    return answer("cuFuncGetParamInfo", [&] {
        const KernelEntry& kernel = kernel_of(function);
        require_pointer(offset, "paramOffset");
        if (index >= kernel.params.size())
            fail(cudaErrorInvalidValue, text("parameter ", index, " of ", kernel.params.size()));
        *offset = packed_offsets(kernel)[index];
        if (size) *size = kernel.params[index].size;
    });
}

namespace {

/// Throws unless the stream belongs to the current device, whose context has loaded the function.
void require_stream_of_function(CUstream handle, const KernelEntry& kernel) {
    if (stream_of(handle).device() != current_device())
        fail(cudaErrorInvalidResourceHandle,
             text("CUDA Stream must be associated with the same CUDA Context that loaded CUFunction ",
                  kernel_name(kernel)));
}

} // namespace

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                       void** extra) {
    return answer("cuLaunchKernel", [&] {
        require_stream_of_function(stream, kernel_of(function));
        submit_launch(
            {kernel_of(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, params, extra},
            stream);
    });
}

// The runtime's attributes are the driver's under other names.
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));

CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
    return answer("cuLaunchKernelEx", [&] {
        require_pointer(config, "config");
        require_stream_of_function(config->hStream, kernel_of(function));
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

CUcontext current_context() noexcept {
    return has_context() ? context_of(current_device()) : nullptr;
}

CUresult ctx_get_current(CUcontext* context) {
    return answer("cuCtxGetCurrent", [&] {
        require_pointer(context, "pctx");
        *context = current_context();
    });
}

CUresult mem_get_address_range(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
    return answer("cuMemGetAddressRange", [&] {
        const std::optional<Range> range = find_live_allocation(reinterpret_cast<const void*>(address));
        if (!range) fail(cudaErrorSymbolNotFound, text("no allocation has address ", address));
        if (base) *base = reinterpret_cast<CUdeviceptr>(range->base);
        if (size) *size = range->bytes;
    });
}

CUresult ctx_get_id(CUcontext context, unsigned long long* id) {
    return answer("cuCtxGetId", [&] {
        require_pointer(id, "ctxId");
        if (context == nullptr) context = current_context();
        if (context == nullptr) fail(cudaErrorDeviceUninitialized, "this thread has no context");
        *id = reinterpret_cast<std::uintptr_t>(context);
    });
}

CUresult ctx_get_device(CUdevice* device) {
    return answer("cuCtxGetDevice", [&] {
        require_pointer(device, "device");
        if (!has_context()) fail(cudaErrorDeviceUninitialized, "this thread has no context");
        *device = current_device();
    });
}

// This gives the thread a context for good: popping it keeps one.
CUresult ctx_push_current(CUcontext context) {
    return answer("cuCtxPushCurrent", [&] {
        require_pointer(context, "ctx");
        const int device = device_of(context);
        pushed_over.push_back(current_device());
        set_current_device(device);
        bind_context();
    });
}

CUresult ctx_pop_current(CUcontext* context) {
    return answer("cuCtxPopCurrent", [&] {
        if (pushed_over.empty()) fail(cudaErrorDeviceUninitialized, "no context was pushed");
        if (context != nullptr) *context = current_context();
        set_current_device(pushed_over.back());
        pushed_over.pop_back();
    });
}

CUresult stream_get_ctx(CUstream stream, CUcontext* context) {
    return answer("cuStreamGetCtx", [&] {
        require_pointer(context, "pctx");
        *context = context_of(stream_of(stream).device());
    });
}

CUresult get_error_name(CUresult error, const char** name) {
    return answer("cuGetErrorName", [&] {
        require_pointer(name, "pStr");
        *name = driver_error_name(number_in(error));
        return *name ? cudaSuccess : cudaErrorInvalidValue;
    });
}

CUresult get_error_string(CUresult error, const char** description) {
    return answer("cuGetErrorString", [&] {
        require_pointer(description, "pStr");
        const int code = number_in(error);
        *description = driver_error_name(code) ? cudaGetErrorString(static_cast<cudaError_t>(code)) : nullptr;
        return *description ? cudaSuccess : cudaErrorInvalidValue;
    });
}

} // namespace cudart_cpu::detail::driver
