// cudaMemcpy*, 1D to 3D, on the legacy default stream or a given one.
#include "call.hpp"
#include "graph_text.hpp"
#include "memory.hpp"
#include "stream.hpp"

#include <cstddef>
#include <memory>

using namespace cudart_cpu::detail;

namespace {

cudaMemoryType type_of(const void* pointer) {
    const std::optional<Range> range = find_allocation(pointer);
    return range ? range->type : cudaMemoryTypeUnregistered;
}

bool is_host(cudaMemoryType type) {
    return type == cudaMemoryTypeUnregistered || type == cudaMemoryTypeHost;
}

/// The same copy from a tight buffer that holds what the source holds now.
struct Staged {
    explicit Staged(const cudaMemcpy3DParms& original)
        : bytes(new std::byte[original.extent.width * original.extent.height * original.extent.depth]), copy(original) {
        cudaMemcpy3DParms into = original;
        into.dstPos = {};
        into.dstPtr = {bytes.get(), original.extent.width, original.extent.width, original.extent.height};
        perform_copy(into);
        copy.srcPos = {};
        copy.srcPtr = into.dstPtr;
    }

    std::unique_ptr<std::byte[]> bytes;
    cudaMemcpy3DParms copy;
};

enum class Call { synchronous, asynchronous };

/// Asynchronous towards the host exactly where CUDA is: pageable sources are read during the call; copies to pageable
/// memory, and those between host memory, have ended when the call returns; synchronous calls do not wait for copies
/// within the device.
void submit(const cudaMemcpy3DParms& copy, Stream& stream, Call call) {
    validate_copy(copy);
    if (copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0) {
        return;
    }
    const cudaMemoryType source = type_of(copy.srcPtr.ptr);
    const cudaMemoryType destination = type_of(copy.dstPtr.ptr);
    const bool within_host = is_host(source) && is_host(destination);
    const bool within_device = !is_host(source) && !is_host(destination);
    const bool wait =
        call == Call::synchronous ? !within_device : within_host || destination == cudaMemoryTypeUnregistered;
    if (!wait && source == cudaMemoryTypeUnregistered) {
        const auto staged = std::make_shared<Staged>(copy);
        enqueue(stream, [staged] { perform_copy(staged->copy); });
        return;
    }
    const CompletionPtr done = enqueue(stream, [copy] { perform_copy(copy); });
    if (wait) {
        done->wait();
    }
}

cudaMemcpy3DParms checked_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (width > dst_pitch || width > src_pitch) {
        fail(cudaErrorInvalidPitchValue,
             text("width ", width, " is more than a pitch: destination ", dst_pitch, ", source ", src_pitch));
    }
    return copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind);
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemcpy(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind) {
    return api("cudaMemcpy", [&] { submit(copy_1d(dst, src, count, kind), stream_of(nullptr), Call::synchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, std::size_t count, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
    return api("cudaMemcpyAsync",
               [&] { submit(copy_1d(dst, src, count, kind), stream_of(stream), Call::asynchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpy2D(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                        std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return api("cudaMemcpy2D", [&] {
        submit(checked_2d(dst, dpitch, src, spitch, width, height, kind), stream_of(nullptr), Call::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy2DAsync(void* dst, std::size_t dpitch, const void* src, std::size_t spitch,
                                             std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
    return api("cudaMemcpy2DAsync", [&] {
        submit(checked_2d(dst, dpitch, src, spitch, width, height, kind), stream_of(stream), Call::asynchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
    return api("cudaMemcpy3D", [&] {
        require_pointer(p, "p");
        submit(*p, stream_of(nullptr), Call::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
    return api("cudaMemcpy3DAsync", [&] {
        require_pointer(p, "p");
        submit(*p, stream_of(stream), Call::asynchronous);
    });
}
