// Copies and fills in streams.
#include <cudag/format.hpp>
#include <cudag/launch.hpp>

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/open_captures.hpp"
#include "node/copy.hpp"
#include "node/copy_3d.hpp"
#include "node/copy_pieces.hpp"
#include "node/fill.hpp"
#include "node/problem.hpp"
#include "owners/capture_owners.hpp"

#include <vector>

namespace cudag::detail {

namespace {

Subject copy_subject(const char* what, const SourceLocation& where) {
    return {fmt::format("{} at {}", what, where), {}, where};
}

struct DriverResult {
    CUresult result;
    const char* operation;
};

DriverResult set_row(const SetParams& set, CUdeviceptr destination, cudaStream_t stream) {
    const auto byte = static_cast<unsigned char>(set.value);
    const auto half = static_cast<unsigned short>(set.value);
    if (set.element_bytes == 1)
        return {driver().memset_d8_async(destination, byte, set.size, stream), "cuMemsetD8Async"};
    if (set.element_bytes == 2)
        return {driver().memset_d16_async(destination, half, set.size, stream), "cuMemsetD16Async"};
    return {driver().memset_d32_async(destination, set.value, set.size, stream), "cuMemsetD32Async"};
}

DriverResult set_rows(const SetParams& set, CUdeviceptr destination, cudaStream_t stream) {
    const auto byte = static_cast<unsigned char>(set.value);
    const auto half = static_cast<unsigned short>(set.value);
    if (set.element_bytes == 1)
        return {driver().memset_2d_d8_async(destination, set.pitch, byte, set.size, set.height, stream),
                "cuMemsetD2D8Async"};
    if (set.element_bytes == 2)
        return {driver().memset_2d_d16_async(destination, set.pitch, half, set.size, set.height, stream),
                "cuMemsetD2D16Async"};
    return {driver().memset_2d_d32_async(destination, set.pitch, set.value, set.size, set.height, stream),
            "cuMemsetD2D32Async"};
}

} // namespace

void copy_async(cudaStream_t stream, const CopyParams& copy, Owners&& owners, const SourceLocation& where) {
    const auto subject = [&] { return copy_subject("memcpy_async", where); };
    require_sound(copy, subject);
    require_recorded(stream, subject);
    if (!owners.empty()) keep_with_capture(stream, owners);
    const cudaError_t status =
        cudaMemcpyAsync(copy.destination, copy.source, copy.source_size * copy.element_bytes, copy.kind, stream);
    if (status != cudaSuccess) raise_call<Error>(status, "cudaMemcpyAsync", subject());
}

void copy_pieces_async(cudaStream_t stream, const CopyParams& copy, Owners&& owners, const SourceLocation& where) {
    const auto subject = [&] { return copy_subject("memcpy_async_in_pieces", where); };
    require_sound(copy, subject);
    require_recorded(stream, subject);
    const std::vector<CopyParams> pieces = pieces_of(copy);
    if (!owners.empty()) keep_with_capture(stream, owners);
    for (const CopyParams& piece : pieces) {
        const cudaError_t status =
            cudaMemcpyAsync(piece.destination, piece.source, bytes_of(piece), piece.kind, stream);
        if (status != cudaSuccess) raise_call<Error>(status, "cudaMemcpyAsync", subject());
    }
}

void copy_3d_async(cudaStream_t stream, const Copy3D& copy, const SourceLocation& where) {
    const auto subject = [&] { return copy_subject("memcpy_async", where); };
    require_sound(copy, subject);
    require_recorded(stream, subject);
    const cudaMemcpy3DParms params = runtime_params(copy);
    const cudaError_t status = cudaMemcpy3DAsync(&params, stream);
    if (status != cudaSuccess) raise_call<Error>(status, "cudaMemcpy3DAsync", subject());
}

void set_async(cudaStream_t stream, const SetParams& set, CallEffects&& effects, const SourceLocation& where) {
    const auto subject = [&] { return copy_subject("memset_async", where); };
    require_sound(set, subject);
    require_recorded(stream, subject);
    if (!effects.owners.empty()) keep_with_capture(stream, effects.owners);
    bind_context();
    const auto destination = reinterpret_cast<CUdeviceptr>(set.destination);
    const auto [result, operation] =
        set.height == 1 ? set_row(set, destination, stream) : set_rows(set, destination, stream);
    if (result != CUDA_SUCCESS) raise_call<Error>(to_runtime(result), operation, subject(), Api::driver);
}

} // namespace cudag::detail
