// What only some versions of CUDA can do.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace cudag::detail {

/// The oldest CUDA that cudag builds with and runs on.
inline constexpr int oldest_version = 12040;

/// "12.4" of 12040.
[[nodiscard]] inline std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The version that counts: of the runtime that this was built for, of the one in this process, and of the driver.
[[nodiscard]] inline int cuda_version() {
    int runtime = 0;
    int driver = 0;
    checked(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    checked(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    return std::min({CUDART_VERSION, runtime, driver});
}

/// Throws GraphError if CUDA is older than `needed`, such as 12080. `subject` is called only then.
template <class MakeSubject>
void require_version(int needed, const char* feature, const MakeSubject& subject) {
    const int version = cuda_version();
    if (version >= needed) return;
    refuse(
        fmt::format("{} needs CUDA {}; here is CUDA {} at most", feature, version_text(needed), version_text(version)),
        subject(), cudaErrorNotSupported);
}

} // namespace cudag::detail
