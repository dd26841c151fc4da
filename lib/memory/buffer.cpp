// Allocation behind DeviceBuffer and PinnedBuffer.
#include <cudag/buffer.hpp>

#include "cuda/failure.hpp"
#include "cuda/made_memory.hpp"
#include "cuda/relaxed_capture.hpp"
#include "held_blocks.hpp"
#include "owners/reclaim.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

namespace cudag::detail {

namespace {

cudaError_t obtain_pinned(void** memory, std::size_t bytes) {
    return cudaMallocHost(memory, bytes);
}

std::shared_ptr<void> allocate(std::size_t count, std::size_t size, const SourceLocation& where, const char* what,
                               const char* operation, cudaError_t (*obtain)(void**, std::size_t),
                               void (*release)(void*)) {
    if (count == 0) return nullptr;
    const auto subject = [&] {
        return Subject{fmt::format("{} of {} elements of {} bytes at {}", what, count, size, where), {}, where};
    };
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        refuse<Error>("the size overflows; ask for fewer elements", subject(), cudaErrorMemoryAllocation);
    reclaim(); // memory of finished launches may be enough
    const BufferRelease deleter(what, obtain == obtain_pinned, where, release);
    void* memory = nullptr;
    const cudaError_t status = obtain(&memory, bytes);
    if (status != cudaSuccess) raise_call<Error>(status, operation, subject());
    deleter.holder->set(bytes);
    std::shared_ptr<void> made(memory, deleter);
    note_made(memory, bytes);
    return made;
}

/// Frees memory. During a capture of a stream, which may use the memory, this breaks the capture, as CUDA intends; but
/// it frees.
template <cudaError_t (*release)(void*)>
void free_memory(void* memory) {
    constexpr const char* operation = release == cudaFree ? "cudaFree" : "cudaFreeHost";
    const cudaError_t status = release(memory);
    if (status != cudaErrorStreamCaptureUnsupported) return report_release(status, operation);
    ignore(status);
    const RelaxedCapture allow_free;
    report_release(release(memory), operation);
}

} // namespace

std::shared_ptr<void> allocate_device(std::size_t count, std::size_t size, const SourceLocation& where) {
    return allocate(
        count, size, where, "DeviceBuffer", "cudaMalloc",
        [](void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); }, free_memory<cudaFree>);
}

std::shared_ptr<void> allocate_pinned(std::size_t count, std::size_t size, const SourceLocation& where) {
    return allocate(count, size, where, "PinnedBuffer", "cudaMallocHost", obtain_pinned, free_memory<cudaFreeHost>);
}

} // namespace cudag::detail
