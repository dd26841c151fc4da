// HostParams: the parameters of a host node.
#pragma once

#include <cuda_runtime_api.h>

namespace cudag::detail {

struct HostParams {
    cudaHostFn_t fn;
    void* userData;
    unsigned sync_mode = 0; ///< CUDA's number of a HostSyncMode, from CUDA 13.1 on
};

} // namespace cudag::detail
