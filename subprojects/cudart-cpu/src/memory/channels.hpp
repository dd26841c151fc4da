// The channels of an array's or a texture's element.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace cudart_cpu::detail {

/// Returns the bytes of one element: one, two or four channels of the same width. Throws
/// cudaErrorInvalidChannelDescriptor for formats unsupported by devices.
std::size_t element_bytes_of(const cudaChannelFormatDesc& desc);

} // namespace cudart_cpu::detail
