// Libraries of kernels, loaded from shared objects, PTX or fat binaries.
// PTX is translated at the first request for a kernel that no registered C++ kernel stands for.
#include "libraries.hpp"

#include "fat_binary.hpp"
#include "image_translation.hpp"
#include "kernel_module.hpp"
#include "memory/device_variables.hpp"
#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"
#include "translated_modules.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

/// The kernels and variables of a library's PTX.
class TranslatedLibrary {
  public:
    explicit TranslatedLibrary(const ptx::ModuleRow& module) : module_(module), binary_(module) {
        for (ptx::u32 i = 0; i < module.kernel_count; ++i)
            binary_.add_kernel(&module.kernels[i], module.kernels[i].name);
        for (ptx::u32 i = 0; i < module.variable_count; ++i)
            note_variable(module.variables[i].address, module.variables[i].bytes);
    }
    ~TranslatedLibrary() {
        for (ptx::u32 i = 0; i < module_.variable_count; ++i)
            forget_variable(module_.variables[i].address);
    }
    TranslatedLibrary(const TranslatedLibrary&) = delete;
    TranslatedLibrary& operator=(const TranslatedLibrary&) = delete;

    /// Returns null if there is none.
    [[nodiscard]] const KernelEntry* kernel(const std::string& name) const {
        const ptx::KernelRow* const row = find_kernel_row(module_, name.c_str());
        return row == nullptr ? nullptr : find_kernel(row, Forms::symbol);
    }
    [[nodiscard]] const ptx::VariableRow* variable(const std::string& name) const {
        return find_variable_row(module_, name.c_str());
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (ptx::u32 i = 0; i < module_.kernel_count; ++i)
            all.emplace_back(module_.kernels[i].name);
        return all;
    }

  private:
    const ptx::ModuleRow& module_;
    FatBinary binary_;
};

struct Library {
    std::unique_ptr<KernelModule> module; ///< of a shared object; null for PTX
    std::string image;              ///< PTX text or a fat binary; empty: a lookup of a kernel fails, as in the driver
    std::vector<std::string> names; ///< of the kernels in PTX text, or of the shared object
    std::vector<std::string> empty_names; ///< of kernels without parameters whose body is `ret;`
    mutable std::once_flag tried;
    mutable std::unique_ptr<TranslatedLibrary> translated;
    mutable std::string refusal;

    /// Returns null if the image cannot be translated.
    const TranslatedLibrary* translation() const {
        std::call_once(tried, [this] {
            if (const ptx::ModuleRow* const rows = translate_image(image, refusal))
                translated = std::make_unique<TranslatedLibrary>(*rows);
        });
        return translated.get();
    }
};

// The table is never destroyed: a program's static objects may still unload their libraries when it ends.
HandleTable<Library, cudaLibrary_t>& libraries() {
    static auto& table = *new HandleTable<Library, cudaLibrary_t>;
    return table;
}

/// The library in which each kernel was last looked up.
struct Origins {
    std::mutex mutex;
    std::unordered_map<const KernelEntry*, cudaLibrary_t> libraries;
};
Origins& origins() {
    static auto& all = *new Origins;
    return all;
}
void note_library(const KernelEntry& kernel, cudaLibrary_t library) {
    const std::lock_guard lock(origins().mutex);
    origins().libraries.insert_or_assign(&kernel, library);
}

constexpr std::size_t all_of_it = std::numeric_limits<std::size_t>::max();
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

void parse_ptx(Library& library, std::string_view code) {
    const std::string text = without_comments(code);
    std::string_view rest = text;
    skip_spaces(rest);
    if (!rest.starts_with(".version")) return;
    library.image = code;
    constexpr std::string_view entry = ".entry";
    for (std::size_t at; (at = rest.find(entry)) != rest.npos;) {
        rest.remove_prefix(at + entry.size());
        skip_spaces(rest);
        const std::size_t end = std::min(rest.find_first_of(" \t\r\n({"), rest.size());
        library.names.emplace_back(rest.substr(0, end));
        if (does_nothing(rest.substr(end))) library.empty_names.push_back(library.names.back());
    }
}

std::shared_ptr<const Library> library_of(cudaLibrary_t handle) {
    std::shared_ptr<const Library> library = libraries().find(handle);
    if (!library) fail(cudaErrorInvalidResourceHandle, text("library ", handle, " is not alive"));
    return library;
}

bool is_ptx_text(const Library& library) {
    return !library.image.empty() && fat_binary_at(library.image.data(), library.image.size()).empty();
}

[[noreturn]] void fail_to_find(const std::string& name, const char* hint = "") {
    fail(cudaErrorSymbolNotFound, text("Kernel (", name, ") cannot be found in library", hint));
}

void require_code(const Library& library) {
    if (library.image.empty() && !library.module)
        fail(cudaErrorInvalidKernelImage,
             "cudart-cpu: the library is no shared object, no fat binary, and no PTX text, which begins with .version");
}

const TranslatedLibrary& translation_of(const Library& library, const std::string& name) {
    if (const TranslatedLibrary* const translated = library.translation()) return *translated;
    fail(is_ptx_text(library) ? cudaErrorSymbolNotFound : cudaErrorNoKernelImageForDevice,
         text("cudart-cpu cannot compile kernel ", name, ": ", library.refusal,
              "; call cudart_cpu::register_library_kernel(name, function) with the same kernel in C++ first"));
}

/// A registered C++ kernel stands for one of PTX text.
const KernelEntry* stand_in(const Library& library, const std::string& name) {
    if (const KernelEntry* const kernel = find_kernel_named(name)) return kernel;
    const bool is_empty = std::ranges::find(library.empty_names, name) != library.empty_names.end();
    return is_empty ? &empty_kernel_named(name) : nullptr;
}

const KernelEntry& kernel_in(const Library& library, const std::string& name) {
    require_code(library);
    const auto found = std::ranges::find(library.names, name);
    if (library.module) {
        if (found == library.names.end())
            fail_to_find(name, library.names.empty() ? ", which has no cudart_cpu::LibraryKernels" : "");
        return *library.module->kernels()[static_cast<std::size_t>(found - library.names.begin())];
    }
    if (is_ptx_text(library)) {
        if (found == library.names.end()) fail_to_find(name);
        if (const KernelEntry* const kernel = stand_in(library, name)) return *kernel;
    }
    const KernelEntry* const kernel = translation_of(library, name).kernel(name);
    if (kernel == nullptr) fail_to_find(name);
    return *kernel;
}

std::vector<std::string> names_in(const Library& library) {
    if (library.image.empty() || is_ptx_text(library)) return library.names;
    return translation_of(library, "of a fat binary").names();
}

} // namespace

cudaLibrary_t load_library(const char* code, std::size_t available) {
    auto library = std::make_shared<Library>();
    if (KernelModule::is_image(code, available)) {
        library->module =
            std::make_unique<KernelModule>(std::string_view(code, KernelModule::image_size(code, available)));
        for (const KernelEntry* kernel : library->module->kernels())
            library->names.push_back(kernel_name(*kernel));
    } else if (const std::string_view binary = fat_binary_at(code, available); !binary.empty()) {
        library->image = binary;
    } else {
        parse_ptx(*library, available == all_of_it ? std::string_view(code) : std::string_view(code, available));
    }
    return libraries().add(std::move(library));
}

cudaLibrary_t load_library_from_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(cudaErrorFileNotFound, text("cannot read ", path));
    const std::string code(std::istreambuf_iterator<char>(file), {});
    if (code.empty()) fail(cudaErrorInvalidKernelImage, text(path, " is empty"));
    return load_library(code.c_str(), code.size());
}

void unload_library(cudaLibrary_t handle) {
    if (!libraries().take(handle)) fail(cudaErrorInvalidResourceHandle, text("library ", handle, " is not alive"));
}

const KernelEntry& kernel_in_library(cudaLibrary_t handle, const std::string& name) {
    const std::shared_ptr<const Library> library = library_of(handle);
    const KernelEntry& kernel = kernel_in(*library, name);
    note_library(kernel, handle);
    return kernel;
}

std::vector<std::string> kernel_names_of_library(cudaLibrary_t handle) {
    return names_in(*library_of(handle));
}

cudaLibrary_t library_of_kernel(const KernelEntry& kernel) {
    const std::lock_guard lock(origins().mutex);
    const auto found = origins().libraries.find(&kernel);
    return found == origins().libraries.end() ? nullptr : found->second;
}

void require_code_of_library(cudaLibrary_t handle) {
    require_code(*library_of(handle));
}

LibraryVariable variable_in_library(cudaLibrary_t handle, const std::string& name) {
    const std::shared_ptr<const Library> library = library_of(handle);
    require_code(*library);
    if (library->module) fail(cudaErrorSymbolNotFound, "cudart-cpu looks up no variables in shared objects");
    const ptx::VariableRow* const row = translation_of(*library, name).variable(name);
    if (row == nullptr) fail(cudaErrorSymbolNotFound, text("Global (", name, ") cannot be found in library"));
    return {row->address, row->bytes};
}

} // namespace cudart_cpu::detail
