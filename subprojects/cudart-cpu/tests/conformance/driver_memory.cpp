// The driver's memory: allocations, copies, fills, attributes of pointers, and virtual memory management.
#include "driver.hpp"

#include <cstddef>
#include <cstdint>

namespace {

CUdeviceptr address_of(const DeviceInts& data, std::size_t index = 0) {
    return reinterpret_cast<CUdeviceptr>(data.data() + index);
}

} // namespace

TEST_CASE("the driver allocates memory that the runtime frees, and the other way round", "[driver][memory]") {
    const auto allocate = entry_point<PFN_cuMemAlloc_v3020>("cuMemAlloc", 12000);
    const auto free_memory = entry_point<PFN_cuMemFree_v3020>("cuMemFree", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUdeviceptr memory = 0;
    REQUIRE(allocate(&memory, 16) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaFree(reinterpret_cast<void*>(memory)));
    REQUIRE(free_memory(memory) == CUDA_ERROR_INVALID_VALUE);
    void* from_runtime = nullptr;
    REQUIRE_CUDA(cudaMalloc(&from_runtime, 16));
    REQUIRE(free_memory(reinterpret_cast<CUdeviceptr>(from_runtime)) == CUDA_SUCCESS);
    REQUIRE(allocate(&memory, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(allocate(nullptr, 16) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver copies in each direction, and boxes", "[driver][memory][copies]") {
    Stream stream;
    DeviceInts data(6);
    const int values[] = {1, 2, 3, 4, 5, 6};
    REQUIRE(entry_point<PFN_cuMemcpyHtoD_v3020>("cuMemcpyHtoD", 12000)(address_of(data), values, sizeof values) ==
            CUDA_SUCCESS);
    REQUIRE(data.read() == std::vector{1, 2, 3, 4, 5, 6});
    REQUIRE(entry_point<PFN_cuMemcpyDtoD_v3020>("cuMemcpyDtoD", 12000)(address_of(data, 3), address_of(data), 4) ==
            CUDA_SUCCESS);
    int read = 0;
    REQUIRE(entry_point<PFN_cuMemcpyDtoH_v3020>("cuMemcpyDtoH", 12000)(&read, address_of(data, 3), 4) == CUDA_SUCCESS);
    REQUIRE(read == 1);

    CUDA_MEMCPY2D rows{};
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = values;
    rows.srcPitch = 3 * sizeof(int);
    rows.srcXInBytes = sizeof(int);
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = address_of(data);
    rows.dstPitch = 3 * sizeof(int);
    rows.WidthInBytes = 2 * sizeof(int);
    rows.Height = 2;
    REQUIRE(entry_point<PFN_cuMemcpy2DAsync_v3020>("cuMemcpy2DAsync", 12000)(&rows, stream) == CUDA_SUCCESS);
    stream.synchronize();
    REQUIRE(data.read() == std::vector{2, 3, 3, 5, 6, 6});
    rows.dstPitch = 1;
    REQUIRE(entry_point<PFN_cuMemcpy2DAsync_v3020>("cuMemcpy2DAsync", 12000)(&rows, stream) ==
            CUDA_ERROR_INVALID_VALUE);
    const auto copy_out = entry_point<PFN_cuMemcpyDtoH_v3020>("cuMemcpyDtoH", 12000);
    REQUIRE(copy_out(&read, address_of(data), 1 << 20) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver tells a pointer's attributes", "[driver][memory]") {
    const auto attribute = entry_point<PFN_cuPointerGetAttribute_v4000>("cuPointerGetAttribute", 12000);
    const DeviceInts data(4);
    const CUdeviceptr inside = address_of(data, 1);
    CUmemorytype type{};
    REQUIRE(attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside) == CUDA_SUCCESS);
    REQUIRE(type == CU_MEMORYTYPE_DEVICE);
    int device = -1;
    REQUIRE(attribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside) == CUDA_SUCCESS);
    REQUIRE(device == 0);
    CUdeviceptr begin = 0;
    REQUIRE(attribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside) == CUDA_SUCCESS);
    REQUIRE(begin <= address_of(data));
    unsigned managed = 99;
    REQUIRE(attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, inside) == CUDA_SUCCESS);
    REQUIRE(managed == 0);
    CUcontext context = nullptr;
    REQUIRE(attribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, inside) == CUDA_SUCCESS);
    CUcontext current = nullptr;
    REQUIRE(entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000)(&current) == CUDA_SUCCESS);
    REQUIRE(context == current);

    int on_stack = 0;
    const auto pageable = reinterpret_cast<CUdeviceptr>(&on_stack);
    REQUIRE(attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pageable) == CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* into[] = {&context, &managed};
    REQUIRE(entry_point<PFN_cuPointerGetAttributes_v7000>("cuPointerGetAttributes", 12000)(2, asked, into, pageable) ==
            CUDA_SUCCESS);
    REQUIRE(context == nullptr);
    REQUIRE(managed == 0);
}

TEST_CASE("an allocation has a number, and its end ends the number", "[driver][memory]") {
    const auto attribute = entry_point<PFN_cuPointerGetAttribute_v4000>("cuPointerGetAttribute", 12000);
    const auto number_at = [&](const void* pointer) {
        unsigned long long number = 0;
        const CUresult result =
            attribute(&number, CU_POINTER_ATTRIBUTE_BUFFER_ID, reinterpret_cast<CUdeviceptr>(pointer));
        REQUIRE((result == CUDA_SUCCESS) == (number != 0));
        return number;
    };
    char *first = nullptr, *second = nullptr;
    REQUIRE(cudaMalloc(&first, 100) == cudaSuccess);
    REQUIRE(cudaMalloc(&second, 100) == cudaSuccess);
    const unsigned long long number = number_at(first);
    REQUIRE(number != 0);
    REQUIRE(number_at(first + 99) == number);
    REQUIRE(number_at(second) != number);
    REQUIRE(cudaFree(first) == cudaSuccess);
    REQUIRE(number_at(first) == 0);
    for (int i = 0; i < 20; ++i) { // the address may come again, the number never
        REQUIRE(cudaMalloc(&first, 100) == cudaSuccess);
        REQUIRE(number_at(first) != number);
        REQUIRE(cudaFree(first) == cudaSuccess);
    }
    REQUIRE(cudaFree(second) == cudaSuccess);
}

TEST_CASE("memory is mapped to reserved addresses, and grows there", "[driver][memory][virtual]") {
    const auto granularity_of =
        entry_point<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity", 12000);
    const auto reserve = entry_point<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve", 12000);
    const auto give_back = entry_point<PFN_cuMemAddressFree_v10020>("cuMemAddressFree", 12000);
    const auto create = entry_point<PFN_cuMemCreate_v10020>("cuMemCreate", 12000);
    const auto release = entry_point<PFN_cuMemRelease_v10020>("cuMemRelease", 12000);
    const auto map = entry_point<PFN_cuMemMap_v10020>("cuMemMap", 12000);
    const auto unmap = entry_point<PFN_cuMemUnmap_v10020>("cuMemUnmap", 12000);
    const auto set_access = entry_point<PFN_cuMemSetAccess_v10020>("cuMemSetAccess", 12000);
    const auto access_of = entry_point<PFN_cuMemGetAccess_v10020>("cuMemGetAccess", 12000);
    const auto retain = entry_point<PFN_cuMemRetainAllocationHandle_v11000>("cuMemRetainAllocationHandle", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    std::size_t unit = 0;
    REQUIRE(granularity_of(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
    REQUIRE(unit != 0);
    CUdeviceptr base = 0;
    REQUIRE(reserve(&base, 4 * unit, 0, 0, 0) == CUDA_SUCCESS);
    REQUIRE(reserve(&base, unit + 1, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    CUmemGenericAllocationHandle first = 0;
    CUmemGenericAllocationHandle second = 0;
    REQUIRE(create(&first, unit, &properties, 0) == CUDA_SUCCESS);
    REQUIRE(create(&second, 2 * unit, &properties, 0) == CUDA_SUCCESS);
    REQUIRE(create(&second, unit + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(map(base, unit, 0, first, 0) == CUDA_SUCCESS);
    REQUIRE(map(base, unit, 0, first, 0) != CUDA_SUCCESS); // there is memory already
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    REQUIRE(set_access(base, unit, &access, 1) == CUDA_SUCCESS);
    unsigned long long flags = 99;
    REQUIRE(access_of(&flags, &access.location, base) == CUDA_SUCCESS);
    REQUIRE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

    const auto pointer_to = [&](std::size_t bytes) { return reinterpret_cast<char*>(base) + bytes; };
    int value = 5;
    int read = 0;
    REQUIRE_CUDA(cudaMemcpy(pointer_to(unit - 4), &value, 4, cudaMemcpyHostToDevice));
    REQUIRE(map(base + unit, 2 * unit, 0, second, 0) == CUDA_SUCCESS);
    REQUIRE(set_access(base + unit, 2 * unit, &access, 1) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaMemset(pointer_to(unit), 1, unit));
    REQUIRE_CUDA(cudaMemcpy(&read, pointer_to(unit - 4), 4, cudaMemcpyDeviceToHost)); // as before it grew
    REQUIRE(read == 5);
    REQUIRE_CUDA(cudaMemcpy(&read, pointer_to(unit), 4, cudaMemcpyDeviceToHost));
    REQUIRE(read == 0x01010101);

    CUmemGenericAllocationHandle again = 0;
    REQUIRE(retain(&again, pointer_to(0)) == CUDA_SUCCESS);
    REQUIRE(release(again) == CUDA_SUCCESS);
    REQUIRE(release(first) == CUDA_SUCCESS); // the mapping keeps the memory
    REQUIRE_CUDA(cudaMemcpy(&read, pointer_to(unit - 4), 4, cudaMemcpyDeviceToHost));
    REQUIRE(read == 5);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(pointer_to(0)));
    REQUIRE(release(second) == CUDA_SUCCESS);
    REQUIRE(unmap(base, 3 * unit) == CUDA_SUCCESS);
    REQUIRE(give_back(base, 4 * unit) == CUDA_SUCCESS);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the driver's arrays are the runtime's, and its textures describe them", "[driver][memory][arrays]") {
    const auto create = entry_point<PFN_cuArrayCreate_v3020>("cuArrayCreate", 12000);
    const auto destroy = entry_point<PFN_cuArrayDestroy_v2000>("cuArrayDestroy", 12000);
    const auto describe = entry_point<PFN_cuArrayGetDescriptor_v3020>("cuArrayGetDescriptor", 12000);
    const auto texture_of = entry_point<PFN_cuTexObjectCreate_v5000>("cuTexObjectCreate", 12000);
    const auto destroy_texture = entry_point<PFN_cuTexObjectDestroy_v5000>("cuTexObjectDestroy", 12000);
    const auto into = entry_point<PFN_cuMemcpyHtoA_v3020>("cuMemcpyHtoA", 12000);
    const auto from = entry_point<PFN_cuMemcpyAtoH_v3020>("cuMemcpyAtoH", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUDA_ARRAY_DESCRIPTOR wanted{};
    wanted.Width = 4;
    wanted.Height = 2;
    wanted.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    wanted.NumChannels = 2;
    CUarray array = nullptr;
    REQUIRE(create(&array, &wanted) == CUDA_SUCCESS);
    CUDA_ARRAY_DESCRIPTOR found{};
    REQUIRE(describe(&found, array) == CUDA_SUCCESS);
    REQUIRE(found.Width == 4);
    REQUIRE(found.Height == 2);
    REQUIRE(found.Format == CU_AD_FORMAT_UNSIGNED_INT8);
    REQUIRE(found.NumChannels == 2);
    cudaChannelFormatDesc channels{};
    REQUIRE_CUDA(cudaGetChannelDesc(&channels, reinterpret_cast<cudaArray_t>(array)));
    REQUIRE(channels.x == 8);
    REQUIRE(channels.y == 8);
    REQUIRE(channels.f == cudaChannelFormatKindUnsigned);

    const unsigned char bytes[] = {1, 2, 3, 4};
    unsigned char read[4] = {};
    REQUIRE(into(array, 2, bytes, sizeof bytes) == CUDA_SUCCESS); // from the second element on
    REQUIRE(from(read, array, 4, 2) == CUDA_SUCCESS);
    REQUIRE(read[0] == 3);
    REQUIRE(read[1] == 4);
    REQUIRE(into(array, 6, bytes, sizeof bytes) != CUDA_SUCCESS); // past the row

    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CUDA_TEXTURE_DESC sampling{};
    CUtexObject texture = 0;
    cudaTextureDesc shown{};
    REQUIRE(texture_of(&texture, &resource, &sampling, nullptr) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaGetTextureObjectTextureDesc(&shown, texture));
    REQUIRE(shown.readMode == cudaReadModeNormalizedFloat); // of 8 bits, unless asked for
    REQUIRE(destroy_texture(texture) == CUDA_SUCCESS);
    sampling.flags = CU_TRSF_READ_AS_INTEGER;
    REQUIRE(texture_of(&texture, &resource, &sampling, nullptr) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaGetTextureObjectTextureDesc(&shown, texture));
    REQUIRE(shown.readMode == cudaReadModeElementType);
    REQUIRE(destroy_texture(texture) == CUDA_SUCCESS);
    REQUIRE(destroy(array) == CUDA_SUCCESS);
    wanted.NumChannels = 3;
    REQUIRE(create(&array, &wanted) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(create(nullptr, &wanted) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}
