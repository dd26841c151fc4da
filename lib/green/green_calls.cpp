// The driver's functions for green contexts, fetched once.
#include "green_calls.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/version.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

namespace cudag::detail {

namespace {

template <class F>
void fetch_green(F& function, const char* name, int since) {
    void* address = nullptr;
    checked(compat::driver_entry_point(name, static_cast<unsigned>(since), &address),
            "cudaGetDriverEntryPointByVersion");
    function = reinterpret_cast<F>(address);
}

GreenCalls fetch_green_calls() {
    int version = 0;
    checked(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    GreenCalls calls{};
    if (version >= oldest_version) {
        fetch_green(calls.device_resource, "cuDeviceGetDevResource", oldest_version);
        fetch_green(calls.split, "cuDevSmResourceSplitByCount", oldest_version);
        fetch_green(calls.describe, "cuDevResourceGenerateDesc", oldest_version);
        fetch_green(calls.create, "cuGreenCtxCreate", oldest_version);
        fetch_green(calls.destroy, "cuGreenCtxDestroy", oldest_version);
        fetch_green(calls.convert, "cuCtxFromGreenCtx", oldest_version);
    }
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
        fetch_green(found, "cuGreenCtxStreamCreate", since::green_streams);
        if (found == nullptr)
            refuse<Error>("Stream: this driver has no streams of green contexts", {}, cudaErrorNotSupported);
        return found;
    }();
    return create;
}

} // namespace cudag::detail
