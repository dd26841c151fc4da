// Copies to and from symbols, as copies between addresses.
#pragma once

#include "symbols.hpp"

namespace cudart_cpu::detail {

/// These functions throw Failure for no symbol, for a kind impossible with symbols, and for bytes beyond the symbol.
cudaMemcpy3DParms copy_to_symbol(const void* symbol, const void* src, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind);
cudaMemcpy3DParms copy_from_symbol(void* dst, const void* symbol, std::size_t bytes, std::size_t offset,
                                   cudaMemcpyKind kind);

} // namespace cudart_cpu::detail
