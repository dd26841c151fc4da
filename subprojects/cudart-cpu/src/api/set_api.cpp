// cudaMemset*, on the legacy default stream or a given one.
#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"
#include "submit/set_submit.hpp"

#include <vector>

using namespace cudart_cpu::detail;

namespace {

/// Returns a fill by bytes: only graph nodes have elements of 2 and 4 bytes.
cudaMemsetParams byte_fill(void* dst, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    cudaMemsetParams set{};
    set.dst = dst;
    set.pitch = pitch;
    set.value = static_cast<unsigned>(value) & 0xFF;
    set.elementSize = 1;
    set.width = width;
    set.height = height;
    return set;
}

/// Throws Failure unless the box lies in the rows and slices of `memory`. A box in one slice needs no height of slices.
void validate_box(const cudaPitchedPtr& memory, const cudaExtent& extent) {
    const bool has_slices = extent.depth > 1 || memory.ysize != 0;
    if (extent.width > memory.pitch || (has_slices && extent.height > memory.ysize)) {
        fail(cudaErrorInvalidValue, text("a box of (", extent.width, ',', extent.height, ',', extent.depth,
                                         ") does not fit a pitch of ", memory.pitch, " and slices of ", memory.ysize));
    }
}

/// Returns one fill for each slice, validated; if the stream captures, their memory is not checked. An empty box is
/// none, wherever it lies.
std::vector<cudaMemsetParams> slices(const cudaPitchedPtr& memory, int value, const cudaExtent& extent,
                                     Stream& stream) {
    std::vector<cudaMemsetParams> sets;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
        return sets;
    }
    validate_box(memory, extent);
    const std::size_t bytes = extent.width * extent.height * extent.depth;
    const bool contiguous = extent.width == memory.pitch && extent.height == memory.ysize;
    if (contiguous && extent.depth > 1) {
        return {byte_fill(memory.ptr, 0, value, bytes, 1)};
    }
    const auto& validate = is_capturing(stream) ? validate_set_shape : validate_set;
    for (std::size_t z = 0; z < extent.depth; ++z) {
        sets.push_back(byte_fill(static_cast<char*>(memory.ptr) + z * memory.ysize * memory.pitch, memory.pitch, value,
                                 extent.width, extent.height));
        validate(sets.back());
    }
    return sets;
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemset(void* dst, int value, std::size_t count) {
    return api("cudaMemset", [&] { submit_set_on_default_stream(byte_fill(dst, 0, value, count, 1)); });
}

CUDART_CPU_API cudaError_t cudaMemsetAsync(void* dst, int value, std::size_t count, cudaStream_t stream) {
    return api("cudaMemsetAsync", [&] { submit_set(byte_fill(dst, 0, value, count, 1), stream_of(stream)); });
}

CUDART_CPU_API cudaError_t cudaMemset2D(void* dst, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
    return api("cudaMemset2D", [&] { submit_set_on_default_stream(byte_fill(dst, pitch, value, width, height)); });
}

CUDART_CPU_API cudaError_t cudaMemset2DAsync(void* dst, std::size_t pitch, int value, std::size_t width,
                                             std::size_t height, cudaStream_t stream) {
    return api("cudaMemset2DAsync",
               [&] { submit_set(byte_fill(dst, pitch, value, width, height), stream_of(stream)); });
}

CUDART_CPU_API cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
    return api("cudaMemset3D", [&] {
        for (const cudaMemsetParams& set : slices(memory, value, extent, stream_of(nullptr))) {
            submit_set_on_default_stream(set);
        }
    });
}

CUDART_CPU_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream) {
    return api("cudaMemset3DAsync", [&] {
        for (const cudaMemsetParams& set : slices(memory, value, extent, stream_of(stream))) {
            submit_set(set, stream_of(stream));
        }
    });
}
