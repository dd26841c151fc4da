// cudaGetSymbol* and copies to and from symbols.
#include "kernel/symbol_copy.hpp"
#include "runtime/call.hpp"
#include "stream/stream.hpp"
#include "submit/copy_submit.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return api("cudaGetSymbolAddress", [&] {
        require_pointer(pointer, "devPtr");
        *pointer = symbol_range(symbol).base;
    });
}

CUDART_CPU_API cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
    return api("cudaGetSymbolSize", [&] {
        require_pointer(size, "size");
        *size = symbol_range(symbol).bytes;
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, std::size_t count,
                                              std::size_t offset, cudaMemcpyKind kind) {
    return api("cudaMemcpyToSymbol", [&] {
        submit_copy(copy_to_symbol(symbol, src, count, offset, kind), stream_of(nullptr), CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, std::size_t count,
                                                   std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return api("cudaMemcpyToSymbolAsync", [&] {
        submit_copy(copy_to_symbol(symbol, src, count, offset, kind), stream_of(stream), CopyCall::asynchronous,
                    CopyForm::line);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, std::size_t count, std::size_t offset,
                                                cudaMemcpyKind kind) {
    return api("cudaMemcpyFromSymbol", [&] {
        submit_copy(copy_from_symbol(dst, symbol, count, offset, kind), stream_of(nullptr), CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, std::size_t count,
                                                     std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return api("cudaMemcpyFromSymbolAsync", [&] {
        submit_copy(copy_from_symbol(dst, symbol, count, offset, kind), stream_of(stream), CopyCall::asynchronous,
                    CopyForm::line);
    });
}
