// Texture objects: the state behind a cudaTextureObject_t, for queries of the host and for kernels.
#include "textures.hpp"

#include "channels.hpp"
#include "mipmapped_arrays.hpp"
#include "object_slots.hpp"
#include "runtime/call.hpp"
#include "runtime/cuda_versions.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "texture_checks.hpp"

#include <algorithm>
#include <bit>

namespace cudart_cpu::detail {

namespace {

// The table is never destroyed: textures may be destroyed after main().
ObjectSlots<Texture>& textures() {
    static auto& slots = *new ObjectSlots<Texture>;
    return slots;
}

Texels linear_texels(const cudaResourceDesc& resource) {
    require_linear(resource);
    const auto& linear = resource.res.linear;
    const std::size_t element = element_bytes_of(linear.desc);
    return {static_cast<char*>(linear.devPtr),    linear.desc,        element,
            {linear.sizeInBytes / element, 0, 0}, linear.sizeInBytes, linear.sizeInBytes};
}

Texels pitched_texels(const cudaResourceDesc& resource) {
    require_pitched(resource);
    const auto& pitched = resource.res.pitch2D;
    return {static_cast<char*>(pitched.devPtr), pitched.desc,         element_bytes_of(pitched.desc),
            {pitched.width, pitched.height, 0}, pitched.pitchInBytes, pitched.pitchInBytes * pitched.height};
}

/// Returns the part of `levels` shown by the view.
std::vector<Texels> seen_through(const cudaResourceViewDesc& view, const std::vector<Texels>& levels, bool layered) {
    require_view(view, levels.front(), levels.size(), layered);
    std::vector<Texels> seen(levels.begin() + view.firstMipmapLevel, levels.begin() + view.lastMipmapLevel + 1);
    const cudaChannelFormatDesc desc = channels_of_view(view, levels.front());
    for (Texels& level : seen) {
        level.desc = desc;
        if (!layered) continue;
        level.data += view.firstLayer * level.slice_bytes;
        level.extent.depth = std::size_t{view.lastLayer} - view.firstLayer + 1;
    }
    return seen;
}

PlainTexture plain_texture(const Texture& texture) {
    const Texels& texels = texture.levels.front();
    const cudaTextureDesc& sampling = texture.sampling;
    PlainTexture plain;
    const int bits[4] = {texels.desc.x, texels.desc.y, texels.desc.z, texels.desc.w};
    for (const int one : bits)
        if (one != 0) {
            if (one != bits[0]) return {};
            ++plain.channels;
        }
    const bool is_float = texels.desc.f == cudaChannelFormatKindFloat;
    plain.is_byte = texels.desc.f == cudaChannelFormatKindUnsigned && bits[0] == 8 && plain.channels == 1;
    const bool is_word = bits[0] == 32 && (is_float || texels.desc.f == cudaChannelFormatKindSigned ||
                                           texels.desc.f == cudaChannelFormatKindUnsigned);
    constexpr std::size_t most = 1u << 30;
    if ((!plain.is_byte && !is_word) || texture.levels.size() != 1 || texels.extent.width == 0 ||
        texels.extent.depth > 1 || texels.extent.width > most || texels.extent.height > most)
        return {};
    plain.is_normalized_byte = plain.is_byte && sampling.readMode == cudaReadModeNormalizedFloat;
    plain.row_bytes = texels.row_bytes;
    plain.element_bytes = texels.element_bytes;
    plain.size[0] = static_cast<int>(texels.extent.width);
    plain.size[1] = static_cast<int>(std::max<std::size_t>(texels.extent.height, 1));
    const bool gives_float = is_float || plain.is_normalized_byte;
    plain.is_linear = sampling.filterMode == cudaFilterModeLinear && gives_float;
    plain.is_normalized = sampling.normalizedCoords != 0;
    plain.missing = gives_float ? std::bit_cast<std::uint32_t>(1.0f) : 1u;
    for (unsigned d = 0; d < 2; ++d) {
        plain.mode[d] = sampling.addressMode[d];
        const bool repeats = plain.mode[d] == cudaAddressModeWrap || plain.mode[d] == cudaAddressModeMirror;
        if (repeats && !plain.is_normalized) plain.mode[d] = cudaAddressModeClamp;
        // Those outside of the texture take the general way.
        if (plain.mode[d] != cudaAddressModeClamp && plain.mode[d] != cudaAddressModeWrap) return {};
    }
    plain.data = texels.data;
    return plain;
}

} // namespace

Texels texels_of(Array& array) {
    const std::size_t row = array.extent.width * array.element_bytes;
    return {array.data.get(), array.desc, array.element_bytes, array.extent, row, row * array.box().height};
}

Texture::Texture(const cudaResourceDesc& resource_, const cudaTextureDesc& sampling_, const cudaResourceViewDesc* view_)
    : resource(resource_), sampling(sampling_), device(current_device()) {
    const int type = number_in(resource.resType);
    const bool has_array = type == cudaResourceTypeArray || type == cudaResourceTypeMipmappedArray;
    if (compat::flags_of(resource) != 0) fail(cudaErrorInvalidValue, "the flags of a resource are not 0");
    const auto add_array = [&](cudaArray_t handle) {
        const auto array = array_of(handle);
        array_flags = array->flags;
        levels.push_back(texels_of(*array));
    };
    switch (type) {
    case cudaResourceTypeArray:
        add_array(resource.res.array.array);
        break;
    case cudaResourceTypeMipmappedArray:
        for (const cudaArray_t level : mipmapped_array_of(resource.res.mipmap.mipmap)->levels)
            add_array(level);
        break;
    case cudaResourceTypeLinear:
        levels.push_back(linear_texels(resource));
        break;
    case cudaResourceTypePitch2D:
        levels.push_back(pitched_texels(resource));
        break;
    default:
        fail(cudaErrorInvalidValue, text("resource type ", type, " is unknown"));
    }
    if (view_ != nullptr && has_array) { // a view of memory is ignored
        view = *view_;
        levels = seen_through(*view, levels, (array_flags & (cudaArrayLayered | cudaArrayCubemap)) != 0);
    }
    require_sampling(sampling, resource, levels.front(), array_flags);
    plain = plain_texture(*this);
    const bool clamps = plain.mode[0] == cudaAddressModeClamp && plain.mode[1] == cudaAddressModeClamp;
    if (plain.data != nullptr && clamps && plain.channels == 1 && !plain.is_byte && !plain.is_linear &&
        !plain.is_normalized && plain.size[0] < (1 << 24) && plain.size[1] < (1 << 24)) // exact as floats
        plane = {plain.data, plain.row_bytes, plain.size[0], plain.size[1], plain.missing};
}

const Texture* find_texture(cudaTextureObject_t handle) noexcept {
    return textures().find(handle);
}

const Texture* find_texture(cudaTextureObject_t handle, std::uint64_t submitted) noexcept {
    return textures().find(handle, submitted);
}

const Texture& texture_of(cudaTextureObject_t handle) {
    const Texture* const texture = find_texture(handle);
    if (texture == nullptr) fail(cudaErrorInvalidValue, text("texture object ", handle, " is not alive"));
    return *texture;
}

cudaTextureObject_t register_texture(std::unique_ptr<const Texture> texture) {
    const cudaTextureObject_t handle = textures().add(std::move(texture));
    if (handle == 0) fail(cudaErrorMemoryAllocation, "there are too many texture objects");
    return handle;
}

void destroy_texture(cudaTextureObject_t handle, std::function<bool()> is_pending) {
    if (!textures().remove(handle, std::move(is_pending)))
        fail(cudaErrorInvalidValue, text("texture object ", handle, " is not alive"));
}

void destroy_textures_of(int device, const std::function<bool()>& is_pending) {
    textures().remove_if([=](const Texture& texture) { return texture.device == device; }, is_pending);
}

} // namespace cudart_cpu::detail
