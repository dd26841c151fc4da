// cudaLibrary*: libraries of kernels, loaded from a shared object or from PTX text.
// PTX text cannot be compiled here: its library has the registered kernels that it names, and its empty kernels.
#include "kernel/kernel_module.hpp"
#include "kernel/kernel_registry.hpp"
#include "runtime/call.hpp"
#include "runtime/cuda_versions.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudart_cpu::detail {

namespace {

struct Library {
    std::unique_ptr<KernelModule> module; ///< null for PTX text, with its kernels below
    bool is_ptx = false;                  // neither: a lookup of a kernel fails, as in the driver
    std::vector<std::string> names;
    std::vector<std::string> empty_names; ///< of kernels without parameters whose body is `ret;`
};

// The table is never destroyed: a program's static objects may still unload their libraries when it ends.
HandleTable<Library, cudaLibrary_t>& libraries() {
    static auto& table = *new HandleTable<Library, cudaLibrary_t>;
    return table;
}

constexpr std::string_view spaces = " \t\r\n";

std::string without_comments(std::string_view ptx) {
    std::string result;
    while (!ptx.empty()) {
        if (const bool line = ptx.starts_with("//"); line || ptx.starts_with("/*")) {
            const std::string_view end = line ? "\n" : "*/";
            const std::size_t at = ptx.find(end, 2);
            ptx.remove_prefix(at == ptx.npos ? ptx.size() : at + end.size());
            result += ' ';
        } else {
            result += ptx.front();
            ptx.remove_prefix(1);
        }
    }
    return result;
}

void skip_spaces(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
}

/// Whether `()`, `{`, `ret;` and `}` follow, with or without spaces between them.
bool does_nothing(std::string_view rest) {
    for (const std::string_view part : {"(", ")", "{", "ret", ";", "}"}) {
        skip_spaces(rest);
        if (!rest.starts_with(part)) return false;
        rest.remove_prefix(part.size());
    }
    return true;
}

Library parse(std::string_view code) {
    const std::string text = without_comments(code);
    std::string_view rest = text;
    skip_spaces(rest);
    if (!rest.starts_with(".version")) return {};
    Library library;
    library.is_ptx = true;
    constexpr std::string_view entry = ".entry";
    for (std::size_t at; (at = rest.find(entry)) != rest.npos;) {
        rest.remove_prefix(at + entry.size());
        skip_spaces(rest);
        const std::size_t end = std::min(rest.find_first_of(" \t\r\n({"), rest.size());
        library.names.emplace_back(rest.substr(0, end));
        if (does_nothing(rest.substr(end))) library.empty_names.push_back(library.names.back());
    }
    return library;
}

cudaLibrary_t load(const char* code, std::size_t available) {
    if (!KernelModule::is_image(code, available)) return libraries().add(std::make_shared<Library>(parse(code)));
    auto library = std::make_shared<Library>();
    library->module = std::make_unique<KernelModule>(std::string_view(code, KernelModule::image_size(code, available)));
    for (const KernelEntry* kernel : library->module->kernels())
        library->names.push_back(kernel_name(*kernel));
    return libraries().add(std::move(library));
}

std::shared_ptr<const Library> library_of(cudaLibrary_t handle) {
    std::shared_ptr<const Library> library = libraries().find(handle);
    if (!library) fail(cudaErrorInvalidResourceHandle, text("library ", handle, " is not alive"));
    return library;
}

cudaKernel_t handle_of(const KernelEntry& kernel) {
    return reinterpret_cast<cudaKernel_t>(const_cast<KernelEntry*>(&kernel));
}

cudaKernel_t kernel_in(const Library& library, const std::string& name) {
    if (!library.is_ptx && !library.module)
        fail(cudaErrorInvalidKernelImage,
             "cudart-cpu: the library is no shared object, and no PTX text, which begins with .version");
    const auto found = std::ranges::find(library.names, name);
    if (found == library.names.end())
        fail(cudaErrorSymbolNotFound,
             text("Kernel (", name, ") cannot be found in library",
                  library.names.empty() && library.module ? ", which has no cudart_cpu::LibraryKernels" : ""));
    if (library.module)
        return handle_of(*library.module->kernels()[static_cast<std::size_t>(found - library.names.begin())]);
    const KernelEntry* kernel = find_kernel_named(name);
    if (!kernel && std::ranges::find(library.empty_names, name) != library.empty_names.end())
        kernel = &empty_kernel_named(name);
    if (!kernel)
        fail(cudaErrorSymbolNotFound,
             text("cudart-cpu cannot compile kernel ", name,
                  "; call cudart_cpu::register_library_kernel(name, function) with the same kernel in C++ first"));
    return handle_of(*kernel);
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

// The options concern compilers: they have no effect here.
CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t* library, const void* code, enum cudaJitOption*,
                                                         void**, unsigned int, enum cudaLibraryOption*, void**,
                                                         unsigned int) {
    return api("cudaLibraryLoadData", [&] {
        require_pointer(library, "library");
        require_pointer(code, "code");
        *library = load(static_cast<const char*>(code), std::numeric_limits<std::size_t>::max());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName,
                                                             enum cudaJitOption*, void**, unsigned int,
                                                             enum cudaLibraryOption*, void**, unsigned int) {
    return api("cudaLibraryLoadFromFile", [&] {
        require_pointer(library, "library");
        require_pointer(fileName, "fileName");
        std::ifstream file(fileName, std::ios::binary);
        if (!file) fail(cudaErrorFileNotFound, text("cannot read ", fileName));
        const std::string code(std::istreambuf_iterator<char>(file), {});
        if (code.empty()) fail(cudaErrorInvalidKernelImage, text(fileName, " is empty"));
        *library = load(code.c_str(), code.size());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library) {
    return api("cudaLibraryUnload", [&] {
        if (!libraries().take(library))
            fail(cudaErrorInvalidResourceHandle, text("library ", library, " is not alive"));
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library,
                                                          const char* name) {
    return api("cudaLibraryGetKernel", [&] {
        require_pointer(pKernel, "pKernel");
        require_pointer(name, "name");
        *pKernel = kernel_in(*library_of(library), name);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib) {
    return api("cudaLibraryGetKernelCount", [&] {
        require_pointer(count, "count");
        *count = static_cast<unsigned>(library_of(lib)->names.size());
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int numKernels,
                                                                 cudaLibrary_t lib) {
    return api("cudaLibraryEnumerateKernels", [&] {
        require_pointer(kernels, "kernels");
        const std::shared_ptr<const Library> library = library_of(lib);
        for (std::size_t i = 0; i < std::min<std::size_t>(numKernels, library->names.size()); ++i)
            kernels[i] = kernel_in(*library, library->names[i]);
    });
}
