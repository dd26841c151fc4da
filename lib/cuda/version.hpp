// Checks of the version of CUDA that features need.
#pragma once

#include "compat.hpp"
#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace cudag::detail {

/// "12.4" for 12040.
[[nodiscard]] inline std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The effective version: the oldest of the runtime of this build, the runtime of this process, and the driver.
[[nodiscard]] inline int cuda_version() {
    int runtime = 0;
    int driver = 0;
    checked(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    checked(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return std::min({CUDART_VERSION, runtime, driver});
}

/// "a switch needs CUDA 12.8; this process has CUDA 12.6 at most" if CUDA is older than `needed`; otherwise empty.
[[nodiscard]] inline std::string missing_version(int needed, const char* feature) {
    if (needed <= oldest_version) return {};
    const int version = cuda_version();
    if (version >= needed) return {};
    return fmt::format("{} needs CUDA {}; this process has CUDA {} at most", feature, version_text(needed),
                       version_text(version));
}

/// Throws GraphError if CUDA is older than `needed`. `subject` is called only then.
template <class MakeSubject>
void require_version(int needed, const char* feature, const MakeSubject& subject) {
    if (const std::string missing = missing_version(needed, feature); !missing.empty())
        refuse(missing, subject(), cudaErrorNotSupported);
}

} // namespace cudag::detail
