// CUDA's requirements for the descriptions of textures.
#pragma once

#include "texels.hpp"

namespace cudart_cpu::detail {

// These throw Failure for descriptions that CUDA refuses.

/// `array_flags` are the flags of the array below.
void require_sampling(const cudaTextureDesc& sampling, const cudaResourceDesc& resource, const Texels& texels,
                      unsigned array_flags);
void require_linear(const cudaResourceDesc& resource);
void require_pitched(const cudaResourceDesc& resource);

/// Returns the channels of a view's format; without a format, those of the array below.
cudaChannelFormatDesc channels_of_view(const cudaResourceViewDesc& view, const Texels& texels);
/// `level_count` levels lie below the view; `texels` is the first.
void require_view(const cudaResourceViewDesc& view, const Texels& texels, std::size_t level_count, bool layered);

} // namespace cudart_cpu::detail
