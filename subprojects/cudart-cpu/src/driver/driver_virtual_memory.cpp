// The driver's functions for virtual memory management.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "memory/virtual_memory.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>

namespace cudart_cpu::detail::driver {

namespace {

/// Throws unless the properties describe pinned memory of a device, not shared with other processes.
void require_device_memory(const CUmemAllocationProp* properties) {
    require_pointer(properties, "prop");
    if (number_in(properties->type) != CU_MEM_ALLOCATION_TYPE_PINNED)
        fail(cudaErrorInvalidValue, text("allocation type ", number_in(properties->type), " is not pinned"));
    if (number_in(properties->location.type) != CU_MEM_LOCATION_TYPE_DEVICE)
        fail(cudaErrorNotSupported, "cudart-cpu makes mappable memory of devices only");
    require_device(properties->location.id);
    if (number_in(properties->requestedHandleTypes) != CU_MEM_HANDLE_TYPE_NONE)
        fail(cudaErrorNotSupported, "cudart-cpu shares no memory with other processes");
}

void* address_at(CUdeviceptr pointer) noexcept {
    return reinterpret_cast<void*>(pointer);
}

MappedAccess access_of(CUmemAccess_flags flags) {
    switch (number_in(flags)) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
        return MappedAccess::none;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
        return MappedAccess::read;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
        return MappedAccess::read_write;
    default:
        fail(cudaErrorInvalidValue, text("access flags ", number_in(flags), " are unknown"));
    }
}

} // namespace

CUresult mem_get_allocation_granularity(std::size_t* granularity, const CUmemAllocationProp* properties,
                                        CUmemAllocationGranularity_flags option) {
    return answer("cuMemGetAllocationGranularity", [&] {
        require_pointer(granularity, "granularity");
        require_device_memory(properties);
        const int number = number_in(option);
        if (number != CU_MEM_ALLOC_GRANULARITY_MINIMUM && number != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
            fail(cudaErrorInvalidValue, text("option ", number, " is unknown"));
        *granularity = mapping_granularity;
    });
}
CUresult mem_address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
    return answer("cuMemAddressReserve", [&] {
        require_pointer(address, "ptr");
        if (flags != 0) fail(cudaErrorInvalidValue, text("flags are ", flags, "; they must be 0"));
        *address = reinterpret_cast<CUdeviceptr>(reserve_addresses(bytes, alignment, address_at(wanted)));
    });
}
CUresult mem_address_free(CUdeviceptr address, std::size_t bytes) {
    return answer("cuMemAddressFree", [&] { give_back_addresses(address_at(address), bytes); });
}
CUresult mem_create(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                    unsigned long long flags) {
    return answer("cuMemCreate", [&] {
        require_pointer(handle, "handle");
        if (flags != 0) fail(cudaErrorInvalidValue, text("flags are ", flags, "; they must be 0"));
        require_device_memory(properties);
        *handle = make_physical_memory(bytes, properties->location.id);
    });
}
CUresult mem_release(CUmemGenericAllocationHandle handle) {
    return answer("cuMemRelease", [&] { release_physical_memory(handle); });
}
CUresult mem_map(CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
                 unsigned long long flags) {
    return answer("cuMemMap", [&] {
        if (flags != 0) fail(cudaErrorInvalidValue, text("flags are ", flags, "; they must be 0"));
        map_memory(address_at(address), bytes, offset, handle);
    });
}
CUresult mem_unmap(CUdeviceptr address, std::size_t bytes) {
    return answer("cuMemUnmap", [&] {
        wait_for_all_devices();
        unmap_memory(address_at(address), bytes);
    });
}
CUresult mem_set_access(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptors, std::size_t count) {
    return answer("cuMemSetAccess", [&] {
        require_pointer(descriptors, "desc");
        if (count == 0) fail(cudaErrorInvalidValue, "there is no descriptor of access");
        MappedAccess access = MappedAccess::none;
        for (std::size_t i = 0; i < count; ++i) {
            if (number_in(descriptors[i].location.type) == CU_MEM_LOCATION_TYPE_DEVICE)
                require_device(descriptors[i].location.id);
            access = std::max(access, access_of(descriptors[i].flags));
        }
        set_mapped_access(address_at(address), bytes, access);
    });
}
CUresult mem_get_access(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
    return answer("cuMemGetAccess", [&] {
        require_pointer(flags, "flags");
        require_pointer(location, "location");
        switch (mapped_access(address_at(address))) {
        case MappedAccess::none:
            *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
            return;
        case MappedAccess::read:
            *flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
            return;
        case MappedAccess::read_write:
            *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            return;
        }
    });
}
CUresult mem_retain_allocation_handle(CUmemGenericAllocationHandle* handle, void* address) {
    return answer("cuMemRetainAllocationHandle", [&] {
        require_pointer(handle, "handle");
        *handle = retain_physical_memory(address);
    });
}
CUresult mem_get_allocation_properties(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
    return answer("cuMemGetAllocationPropertiesFromHandle", [&] {
        require_pointer(properties, "prop");
        *properties = {};
        properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        properties->location.id = device_of_physical_memory(handle);
    });
}

} // namespace cudart_cpu::detail::driver
