// The driver's functions for arrays, textures and surfaces.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "memory/arrays.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstddef>

namespace cudart_cpu::detail::driver {

namespace {

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned count) {
    struct Format {
        int number;
        int bits;
        cudaChannelFormatKind kind;
    };
    constexpr Format formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
        {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
    };
    const auto* const found = std::ranges::find(formats, number_in(format), &Format::number);
    if (found == std::end(formats))
        fail(cudaErrorInvalidValue, text("array format ", number_in(format), " is unknown or not in cudart-cpu"));
    if (count != 1 && count != 2 && count != 4)
        fail(cudaErrorInvalidValue, text(count, " channels; there may be 1, 2 or 4"));
    const auto bits = [&](unsigned channel) { return channel < count ? found->bits : 0; };
    return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& channels) noexcept {
    const int step = channels.x == 8 ? 0 : channels.x == 16 ? 1 : 2;
    switch (channels.f) {
    case cudaChannelFormatKindSigned:
        return static_cast<CUarray_format>(CU_AD_FORMAT_SIGNED_INT8 + step);
    case cudaChannelFormatKindUnsigned:
        return static_cast<CUarray_format>(CU_AD_FORMAT_UNSIGNED_INT8 + step);
    default:
        return channels.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    }
}

unsigned channel_count(const cudaChannelFormatDesc& channels) noexcept {
    return channels.z != 0 ? 4 : channels.y != 0 ? 2 : 1;
}

void make_array(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    require_pointer(array, "pHandle");
    if (descriptor.Width == 0) fail(cudaErrorInvalidValue, "the width of an array must not be 0");
    const cudaChannelFormatDesc channels = channels_of(descriptor.Format, descriptor.NumChannels);
    const cudaExtent extent{descriptor.Width, descriptor.Height, descriptor.Depth};
    through(
        [&] { return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &channels, extent, descriptor.Flags); });
}

/// The description of a resource, and its elements' format: in textures, integers are numbers only if asked for.
struct DriverResource {
    cudaResourceDesc desc{};
    cudaChannelFormatDesc channels{};
};

DriverResource runtime_resource(const CUDA_RESOURCE_DESC* driver) {
    require_pointer(driver, "pResDesc");
    DriverResource result;
    cudaResourceDesc& desc = result.desc;
    switch (number_in(driver->resType)) {
    case CU_RESOURCE_TYPE_ARRAY:
        desc.resType = cudaResourceTypeArray;
        desc.res.array.array = reinterpret_cast<cudaArray_t>(driver->res.array.hArray);
        result.channels = array_of(desc.res.array.array)->desc;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        desc.resType = cudaResourceTypeMipmappedArray;
        desc.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(driver->res.mipmap.hMipmappedArray);
        {
            cudaArray_t level = nullptr;
            through([&] { return cudaGetMipmappedArrayLevel(&level, desc.res.mipmap.mipmap, 0); });
            result.channels = array_of(level)->desc;
        }
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        desc.resType = cudaResourceTypeLinear;
        result.channels = channels_of(driver->res.linear.format, driver->res.linear.numChannels);
        desc.res.linear.devPtr = reinterpret_cast<void*>(driver->res.linear.devPtr);
        desc.res.linear.desc = result.channels;
        desc.res.linear.sizeInBytes = driver->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        desc.resType = cudaResourceTypePitch2D;
        result.channels = channels_of(driver->res.pitch2D.format, driver->res.pitch2D.numChannels);
        desc.res.pitch2D.devPtr = reinterpret_cast<void*>(driver->res.pitch2D.devPtr);
        desc.res.pitch2D.desc = result.channels;
        desc.res.pitch2D.width = driver->res.pitch2D.width;
        desc.res.pitch2D.height = driver->res.pitch2D.height;
        desc.res.pitch2D.pitchInBytes = driver->res.pitch2D.pitchInBytes;
        break;
    default:
        fail(cudaErrorInvalidValue, text("resource type ", number_in(driver->resType), " is unknown"));
    }
    return result;
}

cudaTextureDesc runtime_sampling(const CUDA_TEXTURE_DESC* driver, const cudaChannelFormatDesc& channels) {
    require_pointer(driver, "pTexDesc");
    cudaTextureDesc desc{};
    for (int i = 0; i < 3; ++i)
        desc.addressMode[i] = static_cast<cudaTextureAddressMode>(number_in(driver->addressMode[i]));
    desc.filterMode = static_cast<cudaTextureFilterMode>(number_in(driver->filterMode));
    const bool is_float = channels.f == cudaChannelFormatKindFloat || channels.x == 32;
    const bool as_numbers = is_float || (driver->flags & CU_TRSF_READ_AS_INTEGER) != 0;
    desc.readMode = as_numbers ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    desc.normalizedCoords = (driver->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
    desc.sRGB = (driver->flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
    desc.disableTrilinearOptimization = (driver->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
    desc.seamlessCubemap = (driver->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
    desc.maxAnisotropy = driver->maxAnisotropy;
    desc.mipmapFilterMode = static_cast<cudaTextureFilterMode>(number_in(driver->mipmapFilterMode));
    desc.mipmapLevelBias = driver->mipmapLevelBias;
    desc.minMipmapLevelClamp = driver->minMipmapLevelClamp;
    desc.maxMipmapLevelClamp = driver->maxMipmapLevelClamp;
    std::ranges::copy(driver->borderColor, desc.borderColor);
    return desc;
}

// CUDA 12's structure of the runtime ends before the reserved members.
static_assert(sizeof(cudaResourceViewDesc) <= sizeof(CUDA_RESOURCE_VIEW_DESC));
static_assert(offsetof(cudaResourceViewDesc, lastLayer) == offsetof(CUDA_RESOURCE_VIEW_DESC, lastLayer));

} // namespace

CUresult array_create(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
    return answer_in_context("cuArrayCreate_v2", [&] {
        require_pointer(descriptor, "pAllocateArray");
        CUDA_ARRAY3D_DESCRIPTOR box{};
        box.Width = descriptor->Width;
        box.Height = descriptor->Height;
        box.Format = descriptor->Format;
        box.NumChannels = descriptor->NumChannels;
        make_array(array, box);
    });
}
CUresult array_create_3d(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    return answer_in_context("cuArray3DCreate_v2", [&] {
        require_pointer(descriptor, "pAllocateArray");
        make_array(array, *descriptor);
    });
}
CUresult array_get_descriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
    return answer_in_context("cuArrayGetDescriptor_v2", [&] {
        require_pointer(descriptor, "pArrayDescriptor");
        const auto array = array_of(reinterpret_cast<cudaArray_const_t>(handle));
        *descriptor = {array->extent.width, array->extent.height, format_of(array->desc), channel_count(array->desc)};
    });
}
CUresult array_get_descriptor_3d(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
    return answer_in_context("cuArray3DGetDescriptor_v2", [&] {
        require_pointer(descriptor, "pArrayDescriptor");
        const auto array = array_of(reinterpret_cast<cudaArray_const_t>(handle));
        *descriptor = {array->extent.width,    array->extent.height,       array->extent.depth,
                       format_of(array->desc), channel_count(array->desc), array->flags};
    });
}
CUresult mipmapped_array_create(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
    return answer_in_context("cuMipmappedArrayCreate", [&] {
        require_pointer(array, "pHandle");
        require_pointer(descriptor, "pMipmappedArrayDesc");
        const cudaChannelFormatDesc channels = channels_of(descriptor->Format, descriptor->NumChannels);
        const cudaExtent extent{descriptor->Width, descriptor->Height, descriptor->Depth};
        through([&] {
            return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(array), &channels, extent, levels,
                                            descriptor->Flags);
        });
    });
}
CUresult device_get_texture_1d_linear_max_width(std::size_t* width, CUarray_format format, unsigned channels,
                                                CUdevice device) {
    return answer("cuDeviceGetTexture1DLinearMaxWidth", [&] {
        const cudaChannelFormatDesc desc = channels_of(format, channels);
        through([&] { return cudaDeviceGetTexture1DLinearMaxWidth(width, &desc, device); });
    });
}

CUresult tex_object_create(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* sampling,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
    return answer_in_context("cuTexObjectCreate", [&] {
        const DriverResource memory = runtime_resource(resource);
        const cudaTextureDesc desc = runtime_sampling(sampling, memory.channels);
        through([&] {
            return cudaCreateTextureObject(texture, &memory.desc, &desc,
                                           reinterpret_cast<const cudaResourceViewDesc*>(view));
        });
    });
}
CUresult surf_object_create(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
    return answer_in_context("cuSurfObjectCreate", [&] {
        const DriverResource memory = runtime_resource(resource);
        through([&] { return cudaCreateSurfaceObject(surface, &memory.desc); });
    });
}

} // namespace cudart_cpu::detail::driver
