// Device variables: what cudaGetSymbolAddress and the copies to and from symbols know of them.
#pragma once

#include "memory/memory.hpp"

namespace cudart_cpu::detail {

class FatBinary;

/// The variable of static storage that begins at `symbol`; from now on its memory counts as the device's. Throws
/// cudaErrorInvalidSymbol if there is none. Compiled as C++, device variables look like all others, so it takes those
/// too.
Range symbol_range(const void* symbol);

/// A variable of nvcc's: `symbol` is what stands for it in host code.
void note_symbol(const FatBinary& binary, const void* symbol, void* address, std::size_t bytes);
/// A variable that a .cu file only declares: no symbol, as for NVIDIA's runtime.
void note_extern_symbol(const FatBinary& binary, const void* symbol);
void forget_symbols(const FatBinary* binary) noexcept;

} // namespace cudart_cpu::detail
