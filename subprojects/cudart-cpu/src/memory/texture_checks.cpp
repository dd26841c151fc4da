// CUDA's requirements for the descriptions of textures.
#include "texture_checks.hpp"

#include "channels.hpp"
#include "memory.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <cstdint>

namespace cudart_cpu::detail {

namespace {

template <class Enum>
void require_up_to(const Enum& value, int last, const char* what) {
    const int number = number_in(value);
    if (number < 0 || number > last) fail(cudaErrorInvalidValue, text(what, ' ', number, " is unknown"));
}

/// Whether fetches return integers.
bool gives_integers(const cudaTextureDesc& sampling, const cudaChannelFormatDesc& desc) {
    const bool is_float = number_in(desc.f) == cudaChannelFormatKindFloat;
    const bool is_promoted = number_in(sampling.readMode) == cudaReadModeNormalizedFloat && desc.x < 32;
    return !is_float && !is_promoted;
}

void require_texture_memory(const void* pointer, std::size_t bytes) {
    if (pointer == nullptr) fail(cudaErrorInvalidValue, "the memory of a texture is NULL");
    if (reinterpret_cast<std::uintptr_t>(pointer) % texture_alignment != 0)
        fail(cudaErrorInvalidValue,
             text(pointer, " is not aligned to cudaDeviceProp::textureAlignment, ", texture_alignment));
    const std::optional<Range> range = find_allocation(pointer);
    if (!range) fail(cudaErrorInvalidValue, text(pointer, " is no device pointer"));
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - range->base);
    if (bytes > range->bytes - offset)
        fail(cudaErrorInvalidValue, text("a texture of ", bytes, " bytes leaves its allocation of ", range->bytes));
}

} // namespace

void require_sampling(const cudaTextureDesc& sampling, const cudaResourceDesc& resource, const Texels& texels,
                      unsigned array_flags) {
    const int type = number_in(resource.resType);
    require_up_to(sampling.readMode, cudaReadModeNormalizedFloat, "read mode");
    if (type == cudaResourceTypeLinear) return; // linear memory has neither address modes nor filters
    for (const cudaTextureAddressMode& mode : sampling.addressMode)
        require_up_to(mode, cudaAddressModeBorder, "address mode");
    require_up_to(sampling.filterMode, cudaFilterModeLinear, "filter mode");
    require_up_to(sampling.mipmapFilterMode, cudaFilterModeLinear, "mipmap filter mode");
    if (number_in(sampling.filterMode) == cudaFilterModeLinear && gives_integers(sampling, texels.desc))
        fail(cudaErrorInvalidFilterSetting, "linear filtering needs fetches of floats");
    if (sampling.seamlessCubemap != 0 && (array_flags & cudaArrayCubemap) == 0)
        fail(cudaErrorInvalidValue, "seamlessCubemap needs an array of cudaArrayCubemap");
}

void require_linear(const cudaResourceDesc& resource) {
    const auto& linear = resource.res.linear;
    const std::size_t elements = linear.sizeInBytes / element_bytes_of(linear.desc);
    if (elements > max_linear_texels)
        fail(cudaErrorInvalidValue, text(elements, " elements of a linear texture are more than ", max_linear_texels));
    require_texture_memory(linear.devPtr, linear.sizeInBytes);
}

void require_pitched(const cudaResourceDesc& resource) {
    const auto& pitched = resource.res.pitch2D;
    const std::size_t row = pitched.width * element_bytes_of(pitched.desc);
    const bool size_fits = pitched.width > 0 && pitched.width <= max_pitched_texture_width && pitched.height > 0 &&
                           pitched.height <= max_pitched_texture_height;
    if (!size_fits)
        fail(cudaErrorInvalidValue,
             text("no texture of memory has ", pitched.width, " by ", pitched.height, " elements"));
    if (pitched.pitchInBytes % texture_pitch_alignment != 0 || pitched.pitchInBytes > max_pitched_texture_pitch ||
        pitched.pitchInBytes < row)
        fail(cudaErrorInvalidValue, text("pitch ", pitched.pitchInBytes, " is no multiple of ", texture_pitch_alignment,
                                         " from ", row, " to ", max_pitched_texture_pitch));
    require_texture_memory(pitched.devPtr, (pitched.height - 1) * pitched.pitchInBytes + row);
}

cudaChannelFormatDesc channels_of_view(const cudaResourceViewDesc& view, const Texels& texels) {
    const int format = number_in(view.format);
    if (format == cudaResViewFormatNone) return texels.desc;
    if (format >= cudaResViewFormatUnsignedBlockCompressed1 && format <= cudaResViewFormatUnsignedBlockCompressed7)
        fail(cudaErrorNotSupported, "cudart-cpu has no block-compressed textures");
    if (format < cudaResViewFormatUnsignedChar1 || format > cudaResViewFormatFloat4)
        fail(cudaErrorInvalidValue, text("view format ", format, " is unknown"));
    // The formats come in threes, with one, two and four channels.
    struct ViewKind {
        int bits;
        cudaChannelFormatKind kind;
    };
    constexpr ViewKind kinds[] = {{8, cudaChannelFormatKindUnsigned},  {8, cudaChannelFormatKindSigned},
                                  {16, cudaChannelFormatKindUnsigned}, {16, cudaChannelFormatKindSigned},
                                  {32, cudaChannelFormatKindUnsigned}, {32, cudaChannelFormatKindSigned},
                                  {16, cudaChannelFormatKindFloat},    {32, cudaChannelFormatKindFloat}};
    const int index = format - cudaResViewFormatUnsignedChar1;
    const auto [bits, kind] = kinds[index / 3];
    const int last = index % 3;
    return {bits, last >= 1 ? bits : 0, last == 2 ? bits : 0, last == 2 ? bits : 0, kind};
}

void require_view(const cudaResourceViewDesc& view, const Texels& texels, std::size_t level_count, bool layered) {
    const cudaExtent& extent = texels.extent;
    if (element_bytes_of(channels_of_view(view, texels)) != texels.element_bytes)
        fail(cudaErrorInvalidValue, "the view's elements are not as large as the array's");
    if (view.width != extent.width || view.height != extent.height || view.depth != extent.depth)
        fail(cudaErrorInvalidValue, "the view is not of the array's size");
    if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= level_count)
        fail(cudaErrorInvalidValue,
             text("levels ", view.firstMipmapLevel, " to ", view.lastMipmapLevel, " of ", level_count));
    const std::size_t layers = layered ? extent.depth : 1;
    if (view.firstLayer > view.lastLayer || view.lastLayer >= layers)
        fail(cudaErrorInvalidValue, text("layers ", view.firstLayer, " to ", view.lastLayer, " of ", layers));
}

} // namespace cudart_cpu::detail
