// Copies to and from symbols, as copies between addresses.
#include "symbol_copy.hpp"

#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

namespace cudart_cpu::detail {

namespace {

void require_kind(cudaMemcpyKind kind, cudaMemcpyKind from_or_to_host) {
    if (kind != from_or_to_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
        fail(cudaErrorInvalidMemcpyDirection, text("copy kind ", number_in(kind), " is none that a symbol can have"));
    }
}

char* part_of(const void* symbol, std::size_t bytes, std::size_t offset) {
    const Range range = symbol_range(symbol);
    if (offset > range.bytes || bytes > range.bytes - offset) {
        fail(cudaErrorInvalidValue,
             text("bytes ", offset, " to ", offset + bytes, " are not all in the symbol's ", range.bytes));
    }
    return range.base + offset;
}

} // namespace

cudaMemcpy3DParms copy_to_symbol(const void* symbol, const void* src, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
    require_kind(kind, cudaMemcpyHostToDevice);
    return copy_1d(part_of(symbol, bytes, offset), src, bytes, kind);
}

cudaMemcpy3DParms copy_from_symbol(void* dst, const void* symbol, std::size_t bytes, std::size_t offset,
                                   cudaMemcpyKind kind) {
    require_kind(kind, cudaMemcpyDeviceToHost);
    return copy_1d(dst, part_of(symbol, bytes, offset), bytes, kind);
}

} // namespace cudart_cpu::detail
