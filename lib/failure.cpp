// How a failed CUDA call is described.
#include "failure.hpp"

#include "cuda_log.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

/// What to do about the codes whose names do not say it; empty for the others.
const char* hint(cudaError_t status) {
    switch (status) {
    case cudaErrorInsufficientDriver:
        return "no NVIDIA driver is loaded, or it is older than this CUDA runtime: install or update the driver";
    case cudaErrorNoDevice:
        return "no CUDA device is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES";
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidResourceHandle:
        return "if this is about a kernel: it must be a __global__ function, compiled for this GPU, in objects linked "
               "to "
               "the same shared cudart as cudag (cudag_dep brings it)";
    case cudaErrorNoKernelImageForDevice:
        return "the kernel was not compiled for this GPU: set the cuda-arch option or nvcc's -arch";
    case cudaErrorNotPermitted:
        return "CUDA must not be called from a host node or a stream callback";
    default:
        return "";
    }
}

} // namespace

CallFailure describe_failure(cudaError_t status, const char* operation, Subject&& subject, Api api) {
    std::string log = take_cuda_log(status);
    if (api == Api::runtime) static_cast<void>(cudaGetLastError());
    std::string text = fmt::format("cudag: {}{}{}: {} ({})", subject.text, subject.text.empty() ? "" : ": ", operation,
                                   cudaGetErrorString(status), cudaGetErrorName(status));
    if (!log.empty()) text += fmt::format("; CUDA's log: {}", log);
    if (const char* advice = hint(status); *advice != '\0') text += fmt::format("; {}", advice);
    return {std::move(text), {operation, std::move(log), std::move(subject.labels), subject.where}};
}

} // namespace cudag::detail
