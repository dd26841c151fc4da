// Libraries of kernels.
#include <cudag/library.hpp>

#include "cuda/compat.hpp"
#include "cuda/compute_capability.hpp"
#include "cuda/failure.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/relaxed_capture.hpp"
#include "function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace cudag {

namespace {

/// Returns success if the library has code. CUDA loads anything, and inspects the code on the first request for a
/// kernel: so this requests one if there are none.
cudaError_t verdict_on_code(CUlib_st* library) noexcept {
    unsigned count = 0;
    cudaError_t status = detail::compat::library_kernel_count(&count, library);
    if (status != cudaSuccess || count != 0) return status;
    cudaKernel_t kernel = nullptr;
    status = detail::compat::library_get_kernel(&kernel, library, "cudag_none");
    if (status != cudaErrorSymbolNotFound) return status;
    detail::ignore(status);
    return cudaSuccess;
}

[[noreturn]] void refuse_code(cudaError_t status, const char* operation, const std::string& what) {
    detail::raise_call<GraphError>(status, operation, {what + " is no code that CUDA can load"});
}

/// Throws GraphError if `library`, loaded by `operation`, has no code. Code for other devices is code.
void require_code(CUlib_st* library, const char* operation, const std::string& what) {
    const cudaError_t status = verdict_on_code(library);
    if (status == cudaErrorInvalidKernelImage || status == cudaErrorInvalidPtx) refuse_code(status, operation, what);
    detail::ignore(status); // `function` meets it again
}

/// Whether the PTX text is for devices with early launch. Code for older devices has no wait, and may declare one.
bool is_for_early_launch(const std::string& text) {
    constexpr std::string_view target = ".target sm_";
    const std::size_t place = text.find(target);
    return place != std::string::npos &&
           std::atoi(text.c_str() + place + target.size()) >= 10 * detail::early_launch_major;
}

/// Loads a library with `load(&library)`; `operation` is its name.
template <class Load>
Library loaded(const char* operation, const std::string& what, const Load& load) {
    const detail::RelaxedCapture relaxed;
    detail::compat::Library native = nullptr;
    if (const cudaError_t status = load(&native); status != cudaSuccess)
        detail::raise_call<GraphError>(status, operation, {what});
    Library library = Library::adopt(native);
    require_code(native, operation, what);
    return library;
}

} // namespace

Library::Library(std::shared_ptr<CUlib_st> library) noexcept : library_(std::move(library)) {}

Library Library::adopt(CUlib_st* library) {
    if (library == nullptr) detail::refuse("Library::adopt: the library is null");
    constexpr auto unload = [](void* owned) {
        const detail::RelaxedCapture relaxed;
        detail::report_release(detail::compat::library_unload(static_cast<CUlib_st*>(owned)), "cudaLibraryUnload");
    };
    std::unique_ptr<CUlib_st, void (*)(void*)> owned(library, unload);
    const detail::WaitingRelease deleter(unload);
    return Library(std::shared_ptr<CUlib_st>(owned.release(), deleter));
}

Library Library::from_ptx(const std::string& text) {
    Library result =
        loaded("cudaLibraryLoadData", "Library::from_ptx: the text", [&](detail::compat::Library* library) {
            return detail::compat::library_load_data(library, text.c_str());
        });
    result.lacks_wait_ = is_for_early_launch(text) && text.find("griddepcontrol.wait") == std::string::npos;
    return result;
}

Library Library::from_image(std::span<const std::byte> image) {
    if (image.empty()) detail::refuse("Library::from_image: the image is empty");
    return loaded("cudaLibraryLoadData", "Library::from_image: the image", [&](detail::compat::Library* library) {
        return detail::compat::library_load_data(library, image.data());
    });
}

Library Library::from_file(const std::string& path) {
    return loaded(
        "cudaLibraryLoadFromFile", fmt::format("library \"{}\"", path),
        [&](detail::compat::Library* library) { return detail::compat::library_load_file(library, path.c_str()); });
}

std::vector<std::string> Library::kernel_names() const {
    unsigned count = 0;
    detail::checked<GraphError>(detail::compat::library_kernel_count(&count, native()), "cudaLibraryGetKernelCount");
    if (count == 0) { // CUDA accepts no call for 0 kernels
        const detail::RelaxedCapture relaxed;
        const cudaError_t status = verdict_on_code(native());
        if (status != cudaSuccess) refuse_code(status, "cudaLibraryGetKernel", "kernel_names: the library");
        return {};
    }
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
    auto state = std::make_shared<detail::FunctionState>(detail::Access::state(Function(kernel)));
    state->owner = library_;
    state->lacks_wait = lacks_wait_;
    return Function(std::move(state));
}

} // namespace cudag
