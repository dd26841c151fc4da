// cudaGetDevice*, cudaDevice*, versions.
#include "capture/capture_rules.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/contexts.hpp"
#include "runtime/device_model.hpp"
#include "runtime/device_properties.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaGetDeviceCount(int* count) {
    return api_anywhere("cudaGetDeviceCount", [&] {
        require_pointer(count, "count");
        *count = static_cast<int>(device_count());
    });
}

CUDART_CPU_API cudaError_t cudaGetDevice(int* device) {
    return api_without_context("cudaGetDevice", [&] {
        require_pointer(device, "device");
        *device = current_device();
    });
}

CUDART_CPU_API cudaError_t cudaSetDevice(int device) {
    return api("cudaSetDevice", [&] {
        set_current_device(device);
        choose_primary_context();
        note_primary_use(device);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceSynchronize() {
    return api("cudaDeviceSynchronize", [] {
        refuse_device_query(current_device());
        wait_for_device(current_device());
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return api("cudaDeviceGetStreamPriorityRange", [&] {
        if (least != nullptr) {
            *least = least_stream_priority;
        }
        if (greatest != nullptr) {
            *greatest = greatest_stream_priority;
        }
    });
}

CUDART_CPU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return api("cudaGetDeviceProperties", [&] {
        require_pointer(properties, "prop");
        require_device(device);
        *properties = device_properties(device);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return api("cudaDeviceGetAttribute", [&] {
        require_pointer(value, "value");
        require_device(device);
        *value = device_attribute(attribute, device);
    });
}

CUDART_CPU_API cudaError_t cudaDriverGetVersion(int* version) {
    return api_in_forked_child("cudaDriverGetVersion", [&] {
        bind_context();
        require_pointer(version, "driverVersion");
        *version = driver_version();
    });
}

CUDART_CPU_API cudaError_t cudaRuntimeGetVersion(int* version) {
    return api_in_forked_child("cudaRuntimeGetVersion", [&] {
        bind_context();
        require_pointer(version, "runtimeVersion");
        *version = CUDART_VERSION;
    });
}

CUDART_CPU_API cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return api("cudaMemGetInfo", [&] {
        require_pointer(free, "free");
        require_pointer(total, "total");
        *total = device_memory_bytes();
        *free = *total - device_memory_in_use();
    });
}
