// cudaMemcpyToArray and the like, which count bytes along an array's rows, continuing in the next row.
#include "memory/arrays.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"
#include "submit/copy_submit.hpp"

#include <algorithm>
#include <vector>

using namespace cudart_cpu::detail;

namespace {

/// A position in an array: `x` in bytes, `y` in rows.
struct Position {
    std::size_t x;
    std::size_t y;
};

/// A part of a line of bytes that is a box in the array.
struct Piece {
    std::size_t offset; // within the line
    Position at;
    std::size_t width; // in bytes
    std::size_t height;
};

std::size_t row_bytes_of(cudaArray_const_t array) {
    const auto found = array_of(array);
    return found->extent.width * found->element_bytes;
}

/// Splits a line into the rest of the first row, whole rows, and the remainder.
std::vector<Piece> pieces(std::size_t row_bytes, Position at, std::size_t count) {
    if (at.x >= row_bytes && count > 0)
        fail(cudaErrorInvalidValue, text("byte ", at.x, " is none of a row of ", row_bytes, " bytes"));
    std::vector<Piece> result;
    std::size_t done = 0;
    if (at.x != 0) {
        const std::size_t head = std::min(count, row_bytes - at.x);
        if (head != 0) result.push_back({0, at, head, 1});
        done = head;
        at = {0, at.y + 1};
    }
    if (const std::size_t rows = (count - done) / row_bytes; rows != 0) {
        result.push_back({done, at, row_bytes, rows});
        done += rows * row_bytes;
        at.y += rows;
    }
    if (done < count) result.push_back({done, at, count - done, 1});
    return result;
}

enum class Direction { to_array, from_array };

void submit(Direction direction, cudaArray_const_t array, Position at, const void* memory, std::size_t count,
            cudaMemcpyKind kind, cudaStream_t stream, CopyCall call) {
    const std::size_t row = row_bytes_of(array);
    const std::size_t element = array_of(array)->element_bytes;
    const cudaMemcpyKind with_host = direction == Direction::to_array ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        fail(cudaErrorInvalidMemcpyDirection, "the copy's kind leaves no side for the array");
    if (at.x % element != 0 || count % element != 0)
        fail(cudaErrorInvalidValue,
             text("byte ", at.x, " or count ", count, " is no whole number of elements of ", element));
    // If a part leaves the array, the parts before it are copied, as on a GPU.
    for (const Piece& piece : pieces(row, at, count)) {
        cudaMemcpy3DParms copy{};
        const cudaPos position{piece.at.x / element, piece.at.y, 0};
        char* const part = static_cast<char*>(const_cast<void*>(memory)) + piece.offset;
        const cudaPitchedPtr pointer{part, row, piece.width, piece.height};
        if (direction == Direction::to_array) {
            copy.dstArray = const_cast<cudaArray_t>(array);
            copy.dstPos = position;
            copy.srcPtr = pointer;
        } else {
            copy.srcArray = const_cast<cudaArray_t>(array);
            copy.srcPos = position;
            copy.dstPtr = pointer;
        }
        copy.extent = {piece.width / element, piece.height, 1};
        copy.kind = kind;
        submit_copy(copy, stream_of(stream), call);
    }
}

struct PlaceInArray {
    cudaArray_t array;
    Position at;

    [[nodiscard]] std::size_t row() const { return row_bytes_of(array); }
    [[nodiscard]] std::size_t element() const { return array_of(array)->element_bytes; }
    [[nodiscard]] cudaPos position() const { return {at.x / element(), at.y, 0}; }
    void advance(std::size_t bytes) {
        at.x += bytes;
        if (at.x == row()) at = {0, at.y + 1};
    }
};

/// Copies between arrays in parts that stay within one row on both sides.
void submit_between(PlaceInArray to, PlaceInArray from, std::size_t count, cudaMemcpyKind kind) {
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        fail(cudaErrorInvalidMemcpyDirection, "a copy between arrays is within the device");
    const std::size_t element = from.element();
    if (to.at.x >= to.row() || from.at.x >= from.row() || to.at.x % element != 0 || from.at.x % element != 0 ||
        count % element != 0)
        fail(cudaErrorInvalidValue, text("bytes ", from.at.x, " and ", to.at.x, " of a row, or count ", count,
                                         ", are no whole elements of ", element, " in the arrays"));
    while (count != 0) {
        const std::size_t bytes = std::min({count, to.row() - to.at.x, from.row() - from.at.x});
        cudaMemcpy3DParms copy{};
        copy.dstArray = to.array;
        copy.dstPos = to.position();
        copy.srcArray = from.array;
        copy.srcPos = from.position();
        copy.extent = {bytes / element, 1, 1};
        copy.kind = kind;
        submit_copy(copy, stream_of(nullptr), CopyCall::synchronous);
        to.advance(bytes);
        from.advance(bytes);
        count -= bytes;
    }
}

} // namespace

CUDART_CPU_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset, const void* src,
                                             std::size_t count, cudaMemcpyKind kind) {
    return api("cudaMemcpyToArray", [&] {
        submit(Direction::to_array, dst, {wOffset, hOffset}, src, count, kind, nullptr, CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, std::size_t wOffset, std::size_t hOffset,
                                                  const void* src, std::size_t count, cudaMemcpyKind kind,
                                                  cudaStream_t stream) {
    return api("cudaMemcpyToArrayAsync", [&] {
        submit(Direction::to_array, dst, {wOffset, hOffset}, src, count, kind, stream, CopyCall::asynchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, std::size_t wOffset,
                                               std::size_t hOffset, std::size_t count, cudaMemcpyKind kind) {
    return api("cudaMemcpyFromArray", [&] {
        submit(Direction::from_array, src, {wOffset, hOffset}, dst, count, kind, nullptr, CopyCall::synchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, std::size_t wOffset,
                                                    std::size_t hOffset, std::size_t count, cudaMemcpyKind kind,
                                                    cudaStream_t stream) {
    return api("cudaMemcpyFromArrayAsync", [&] {
        submit(Direction::from_array, src, {wOffset, hOffset}, dst, count, kind, stream, CopyCall::asynchronous);
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, std::size_t wOffsetDst, std::size_t hOffsetDst,
                                                  cudaArray_const_t src, std::size_t wOffsetSrc, std::size_t hOffsetSrc,
                                                  std::size_t count, cudaMemcpyKind kind) {
    return api("cudaMemcpyArrayToArray", [&] {
        submit_between({dst, {wOffsetDst, hOffsetDst}}, {const_cast<cudaArray_t>(src), {wOffsetSrc, hOffsetSrc}}, count,
                       kind);
    });
}
