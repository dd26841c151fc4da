// The channels of an array's or a texture's element.
#include "channels.hpp"

#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <array>

namespace cudart_cpu::detail {

namespace {

bool is_channel_width(int bits, int kind) {
    if (kind == cudaChannelFormatKindFloat) {
        return bits == 16 || bits == 32;
    }
    return bits == 8 || bits == 16 || bits == 32;
}

} // namespace

std::size_t element_bytes_of(const cudaChannelFormatDesc& desc) {
    const std::array<int, 4> bits{desc.x, desc.y, desc.z, desc.w};
    const int kind = number_in(desc.f);
    const auto channels =
        static_cast<std::size_t>(std::ranges::find_if(bits, [](int width) { return width == 0; }) - bits.begin());
    const bool same = std::all_of(bits.begin(), bits.begin() + channels, [&](int width) { return width == desc.x; }) &&
                      std::all_of(bits.begin() + channels, bits.end(), [](int width) { return width == 0; });
    const bool known_kind = kind == cudaChannelFormatKindSigned || kind == cudaChannelFormatKindUnsigned ||
                            kind == cudaChannelFormatKindFloat;
    if (!same || !known_kind || !is_channel_width(desc.x, kind) || channels == 3) {
        fail(cudaErrorInvalidChannelDescriptor,
             text("no array has elements of ", desc.x, ',', desc.y, ',', desc.z, ',', desc.w, " bits of kind ", kind));
    }
    return channels * static_cast<std::size_t>(desc.x) / 8;
}

} // namespace cudart_cpu::detail
