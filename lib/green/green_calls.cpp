// The driver's functions for green contexts, fetched once.
#include "green_calls.hpp"

#include "cuda/driver_function.hpp"
#include "cuda/failure.hpp"
#include "cuda/version.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

namespace cudag::detail {

namespace {

GreenCalls fetch_green_calls() {
    GreenCalls calls{};
    fetch_optional(calls.device_resource, "cuDeviceGetDevResource");
    fetch_optional(calls.split, "cuDevSmResourceSplitByCount");
    fetch_optional(calls.describe, "cuDevResourceGenerateDesc");
    fetch_optional(calls.create, "cuGreenCtxCreate");
    fetch_optional(calls.destroy, "cuGreenCtxDestroy");
    fetch_optional(calls.convert, "cuCtxFromGreenCtx");
    return calls;
}

} // namespace

const GreenCalls& green_calls() {
    static const GreenCalls calls = fetch_green_calls();
    if (calls.device_resource == nullptr || calls.split == nullptr || calls.describe == nullptr ||
        calls.create == nullptr || calls.destroy == nullptr || calls.convert == nullptr)
        refuse<Error>("GreenContext: this driver has no green contexts, which CUDA has from 12.4 on", {},
                      cudaErrorNotSupported);
    return calls;
}

void require_green_driver(int needed, const char* feature) {
    int version = 0;
    checked(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    if (version < needed)
        refuse<Error>(fmt::format("{} need a driver of CUDA {}; this one is of CUDA {}", feature, version_text(needed),
                                  version_text(version)),
                      {}, cudaErrorNotSupported);
}

GreenStreamCreate green_stream_create() {
    require_green_driver(since::green_streams, "Stream: streams of green contexts");
    static const GreenStreamCreate create = [] {
        GreenStreamCreate found = nullptr;
        fetch_optional(found, "cuGreenCtxStreamCreate", since::green_streams);
        if (found == nullptr)
            refuse<Error>("Stream: this driver has no streams of green contexts", {}, cudaErrorNotSupported);
        return found;
    }();
    return create;
}

} // namespace cudag::detail
