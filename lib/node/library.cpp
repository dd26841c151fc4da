// Libraries of kernels.
#include <cudag/library.hpp>

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/relaxed_capture.hpp"
#include "function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace cudag {

namespace {

/// Loads with `load(&library)`, which `operation` is; the owner of it.
template <class Load>
CUlib_st* loaded(const char* operation, const Load& load) {
    const detail::RelaxedCapture relaxed;
    detail::compat::Library library = nullptr;
    detail::checked<GraphError>(load(&library), operation);
    return library;
}

} // namespace

Library::Library(std::shared_ptr<CUlib_st> library) noexcept : library_(std::move(library)) {}

Library Library::adopt(CUlib_st* library) {
    if (library == nullptr) detail::refuse("Library::adopt: the library is null");
    return Library(std::shared_ptr<CUlib_st>(library, [](CUlib_st* owned) {
        const detail::RelaxedCapture relaxed;
        detail::ignore(detail::compat::library_unload(owned));
    }));
}

Library Library::from_ptx(const std::string& text) {
    return adopt(loaded("cudaLibraryLoadData", [&](detail::compat::Library* library) {
        return detail::compat::library_load_data(library, text.c_str());
    }));
}

Library Library::from_image(std::span<const std::byte> image) {
    if (image.empty()) detail::refuse("Library::from_image: the image is empty");
    return adopt(loaded("cudaLibraryLoadData", [&](detail::compat::Library* library) {
        return detail::compat::library_load_data(library, image.data());
    }));
}

Library Library::from_file(const std::string& path) {
    const detail::RelaxedCapture relaxed;
    detail::compat::Library library = nullptr;
    const cudaError_t status = detail::compat::library_load_file(&library, path.c_str());
    if (status != cudaSuccess)
        detail::raise_call<GraphError>(status, "cudaLibraryLoadFromFile", {fmt::format("library \"{}\"", path)});
    return adopt(library);
}

std::vector<std::string> Library::kernel_names() const {
    unsigned count = 0;
    detail::checked<GraphError>(detail::compat::library_kernel_count(&count, native()), "cudaLibraryGetKernelCount");
    std::vector<cudaKernel_t> kernels(count);
    detail::checked<GraphError>(detail::compat::library_kernels(kernels.data(), count, native()),
                                "cudaLibraryEnumerateKernels");
    std::vector<std::string> names;
    for (cudaKernel_t kernel : kernels) {
        const char* name = nullptr;
        detail::checked<GraphError>(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)), "cudaFuncGetName");
        names.emplace_back(name);
    }
    return names;
}

Function Library::function(const std::string& name) const {
    const detail::RelaxedCapture relaxed;
    cudaKernel_t kernel = nullptr;
    const cudaError_t status = detail::compat::library_get_kernel(&kernel, native(), name.c_str());
    if (status == cudaErrorSymbolNotFound) {
        detail::CallFailure failure = detail::describe_failure(
            status, "cudaLibraryGetKernel", {fmt::format("kernel \"{}\"", name)}, detail::Api::runtime);
        const std::vector<std::string> names = kernel_names();
        failure.text += names.empty() ? "; the library has no kernels"
                                      : fmt::format("; the library has {}: C++ mangles names, extern \"C\" does not",
                                                    fmt::join(names, ", "));
        detail::raise<GraphError>(status, failure.text, std::move(failure.details));
    }
    if (status != cudaSuccess)
        detail::raise_call<GraphError>(status, "cudaLibraryGetKernel", {fmt::format("kernel \"{}\"", name)});
    auto state = std::make_shared<detail::FunctionState>(Function(kernel).state());
    state->owner = library_;
    return Function(std::move(state));
}

} // namespace cudag
