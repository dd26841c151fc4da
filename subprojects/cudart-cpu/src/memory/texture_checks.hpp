// What CUDA asks of the descriptions of textures.
#pragma once

#include "texels.hpp"

namespace cudart_cpu::detail {

// These throw Failure for what CUDA refuses.

/// `array_flags` are those of the array below.
void require_sampling(const cudaTextureDesc& sampling, const cudaResourceDesc& resource, const Texels& texels,
                      unsigned array_flags);
void require_linear(const cudaResourceDesc& resource);
void require_pitched(const cudaResourceDesc& resource);

/// The channels that a view's format has; those of the array below if it has none.
cudaChannelFormatDesc channels_of_view(const cudaResourceViewDesc& view, const Texels& texels);
/// `level_count` levels lie below, the first of which is `texels`.
void require_view(const cudaResourceViewDesc& view, const Texels& texels, std::size_t level_count, bool layered);

} // namespace cudart_cpu::detail
