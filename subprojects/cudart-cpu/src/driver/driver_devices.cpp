// The driver's functions for initialisation and devices.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "runtime/device_model.hpp"
#include "runtime/device_properties.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>

namespace cudart_cpu::detail::driver {

namespace {

/// Attributes that only the driver has. Others that the runtime lacks are 0: features absent here.
int driver_attribute(int attribute) {
    constexpr int stream_mem_ops_64_bit = 122; // these replace CUDA 11's of other numbers
    constexpr int stream_wait_nor = 123;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case stream_mem_ops_64_bit:
    case stream_wait_nor:
        return 1;
    default:
        if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
            fail(cudaErrorInvalidValue, text("Invalid device attribute enum value ", attribute));
        return 0;
    }
}

/// Whether the runtime has the attribute, too.
bool is_of_runtime(int attribute) {
    constexpr int first_of_driver = CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1;
    constexpr int last_of_them = CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1;
    return attribute < first_of_driver || attribute > last_of_them;
}

} // namespace

CUresult init(unsigned flags) {
    return static_cast<CUresult>(driver_api_anytime("cuInit", [&] {
        refuse_in_forked_child();
        refuse_inside_host_function();
        if (flags != 0) fail(cudaErrorInvalidValue, text("flags of cuInit are ", flags, "; they must be 0"));
        initialise_driver();
    }));
}
CUresult driver_get_version(int* version) {
    return static_cast<CUresult>(driver_api_anytime("cuDriverGetVersion", [&] {
        require_pointer(version, "driverVersion");
        *version = driver_version();
    }));
}

CUresult profiler_start() {
    return answer_in_context("cuProfilerStart", [] { through([] { return cudaProfilerStart(); }); });
}
CUresult profiler_stop() {
    return answer_in_context("cuProfilerStop", [] { through([] { return cudaProfilerStop(); }); });
}

CUresult device_get(CUdevice* device, int ordinal) {
    return answer("cuDeviceGet", [&] {
        require_pointer(device, "device");
        require_device(ordinal);
        *device = ordinal;
    });
}
CUresult device_get_name(char* name, int length, CUdevice device) {
    return answer("cuDeviceGetName", [&] {
        require_device(device);
        require_pointer(name, "name");
        if (length <= 0) fail(cudaErrorInvalidValue, text("the name has room for ", length, " characters"));
        const cudaDeviceProp properties = device_properties(device);
        const std::size_t size = std::min(std::strlen(properties.name), static_cast<std::size_t>(length) - 1);
        std::memcpy(name, properties.name, size);
        name[size] = '\0';
    });
}
CUresult device_get_uuid(CUuuid* uuid, CUdevice device) {
    return answer("cuDeviceGetUuid_v2", [&] {
        require_device(device);
        require_pointer(uuid, "uuid");
        const cudaDeviceProp properties = device_properties(device);
        std::memcpy(uuid->bytes, properties.uuid.bytes, sizeof uuid->bytes);
    });
}
CUresult device_total_mem(std::size_t* bytes, CUdevice device) {
    return answer("cuDeviceTotalMem_v2", [&] {
        require_device(device);
        require_pointer(bytes, "bytes");
        *bytes = device_memory_bytes();
    });
}
CUresult device_get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    return answer("cuDeviceGetAttribute", [&] {
        require_pointer(value, "pi");
        require_device(device);
        const int number = number_in(attribute);
        if (is_of_runtime(number)) {
            try {
                *value = device_attribute(static_cast<cudaDeviceAttr>(number), device);
                return;
            } catch (const Failure&) {
                // The driver may have it.
            }
        }
        *value = driver_attribute(number);
    });
}
CUresult device_compute_capability(int* major, int* minor, CUdevice device) {
    return answer("cuDeviceComputeCapability", [&] {
        require_device(device);
        require_pointer(major, "major");
        require_pointer(minor, "minor");
        *major = compute_major;
        *minor = compute_minor;
    });
}
CUresult device_get_properties(CUdevprop* properties, CUdevice device) {
    return answer("cuDeviceGetProperties", [&] {
        require_device(device);
        require_pointer(properties, "prop");
        const cudaDeviceProp all = device_properties(device);
        *properties = {};
        properties->maxThreadsPerBlock = all.maxThreadsPerBlock;
        std::ranges::copy(all.maxThreadsDim, properties->maxThreadsDim);
        std::ranges::copy(all.maxGridSize, properties->maxGridSize);
        properties->sharedMemPerBlock = static_cast<int>(all.sharedMemPerBlock);
        properties->totalConstantMemory = static_cast<int>(all.totalConstMem);
        properties->SIMDWidth = all.warpSize;
        properties->memPitch = static_cast<int>(all.memPitch);
        properties->regsPerBlock = all.regsPerBlock;
        properties->clockRate = clock_khz;
        properties->textureAlign = static_cast<int>(all.textureAlignment);
    });
}
CUresult device_get_exec_affinity_support(int* supported, CUexecAffinityType, CUdevice device) {
    return answer("cuDeviceGetExecAffinitySupport", [&] {
        require_pointer(supported, "pi");
        require_device(device);
        *supported = 0;
    });
}

} // namespace cudart_cpu::detail::driver
