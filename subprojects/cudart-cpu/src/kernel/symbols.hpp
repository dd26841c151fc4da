// Device variables, for cudaGetSymbolAddress and for copies to and from symbols.
#pragma once

#include "memory/memory.hpp"

namespace cudart_cpu::detail {

class FatBinary;

/// Returns the variable of static storage at `symbol`; from now on its memory counts as the device's. Throws
/// cudaErrorInvalidSymbol if there is none. It takes any variable: compiled as C++, device variables look like all
/// others.
Range symbol_range(const void* symbol);

/// Notes a variable of nvcc's: `symbol` represents it in host code.
void note_symbol(const FatBinary& binary, const void* symbol, void* address, std::size_t bytes);
/// Notes a variable only declared in a .cu file: no symbol, as for NVIDIA's runtime.
void note_extern_symbol(const FatBinary& binary, const void* symbol);
void forget_symbols(const FatBinary* binary) noexcept;

} // namespace cudart_cpu::detail
