// cudag's own kernels, loaded on first use.
#include "own_kernels.hpp"

#include "compat.hpp"
#include "failure.hpp"
#include "relaxed_capture.hpp"

#include <utility>

namespace cudag::detail {

namespace {

/// A separate module, since kernels that set conditions take long to link.
constexpr const char* nothing_ptx = R"(.version 8.0
.target sm_52
.address_size 64
.visible .entry cudag_nothing()
{
    ret;
}
)";

} // namespace

cudaKernel_t load_kernel(const char* ptx, const char* name) {
    const RelaxedCapture relaxed;
    compat::Library library = nullptr;
    checked<GraphError>(compat::library_load_data(&library, ptx), "cudaLibraryLoadData");
    cudaKernel_t kernel = nullptr;
    const cudaError_t status = compat::library_get_kernel(&kernel, library, name);
    if (status != cudaSuccess) {
        CallFailure failure = describe_failure(status, "cudaLibraryGetKernel", {}, Api::runtime);
        ignore(compat::library_unload(library));
        throw GraphError(status, failure.text, std::move(failure.details));
    }
    return kernel;
}

cudaKernel_t nothing_kernel() {
    static const cudaKernel_t kernel = load_kernel(nothing_ptx, "cudag_nothing");
    return kernel;
}

} // namespace cudag::detail
