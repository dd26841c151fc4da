// The search for a second CUDA runtime: kernels of one are unknown to the other, and would silently not run.
#include "process_modules.hpp"

#include "call.hpp"
#include "elf_symbols.hpp"
#include "text.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace cudart_cpu::detail {

namespace {

enum class Runtimes { unknown, one, two };

/// The first function called by nvcc's objects.
constexpr const char* registering = "__cudaRegisterFatBinary";

struct Modules {
    std::atomic<Runtimes> runtimes{Runtimes::unknown};
    std::mutex mutex;
    std::string other;               ///< the module with the other runtime
    std::set<const void*> looked_at; ///< base addresses of modules with kernels
};

/// The modules are never destroyed: calls may come after main().
Modules& modules() {
    static auto* all = new Modules;
    return *all;
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

template <class T>
const T* at(const link_map& module, ElfW(Addr) address) {
    // glibc has added the base to the pointers of most modules' dynamic sections, but not of all.
    return reinterpret_cast<const T*>(address < module.l_addr ? module.l_addr + address : address);
}

/// Whether the module takes `name` from another one.
bool imports(const link_map& module, const char* name) {
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t* hash = nullptr;
    for (const ElfW(Dyn)* entry = module.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_SYMTAB) symbols = at<ElfW(Sym)>(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB) names = at<char>(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_GNU_HASH) hash = at<std::uint32_t>(module, entry->d_un.d_ptr);
    }
    if (symbols == nullptr || names == nullptr || hash == nullptr) return true; // nothing is known: no reason to refuse
    const std::uint32_t first_defined = hash[1];
    for (std::uint32_t i = 1; i < first_defined; ++i)
        if (std::strcmp(names + symbols[i].st_name, name) == 0) return true;
    return false;
}

/// Whether the module is this runtime, or contains it.
bool is_own(const link_map& module) {
    Dl_info info{};
    void* own = nullptr;
    return dladdr1(reinterpret_cast<const void*>(&require_only_runtime), &info, &own, RTLD_DL_LINKMAP) != 0 &&
           own == &module;
}

/// Whether another runtime is linked into the module and takes its calls. nvcc's objects, registered there, show it, or
/// its functions, unless the module is stripped.
bool has_static_runtime(const link_map& module) {
    if (imports(module, registering)) return false;
    const char* path = *module.l_name == '\0' ? "/proc/self/exe" : module.l_name; // the program itself has no name
    return elf_has_section(path, ".nv_fatbin") || (!is_own(module) && elf_has_function(path, registering));
}

void set_other(std::string other) {
    Modules& all = modules();
    const std::lock_guard lock(all.mutex);
    if (all.other.empty()) all.other = std::move(other);
    all.runtimes = Runtimes::two;
}

std::string program() {
    std::string path(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return path;
}

std::string describe_static(const link_map& module) {
    const std::string path = *module.l_name == '\0' ? program() : module.l_name;
    return text(path, " (linked statically)");
}

/// Whether the library at `path` has the runtime's name but is this runtime: a program linked against NVIDIA's runtime
/// finds it there.
bool is_own_name(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return false;
    const void* const runtime = dlsym(library, "cudart_cpu_stands_for");
    link_map* module = nullptr;
    const bool own = runtime != nullptr || (dlinfo(library, RTLD_DI_LINKMAP, &module) == 0 && is_own(*module));
    dlclose(library);
    return own;
}

/// Returns the paths of all modules named like NVIDIA's shared runtime.
std::vector<std::string> modules_named_libcudart() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* found) {
            const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            if (file_name(path).starts_with("libcudart.so"))
                static_cast<std::vector<std::string>*>(found)->emplace_back(path);
            return 0;
        },
        &paths);
    return paths;
}

void look() {
    std::string other;
    const void* const handle = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    link_map* first = nullptr;
    if (handle != nullptr && dlinfo(const_cast<void*>(handle), RTLD_DI_LINKMAP, &first) == 0 && first != nullptr &&
        has_static_runtime(*first))
        other = describe_static(*first);
    for (std::string& path : modules_named_libcudart())
        if (other.empty() && !is_own_name(path)) other = std::move(path);
    if (!other.empty()) return set_other(std::move(other));
    auto expected = Runtimes::unknown;
    modules().runtimes.compare_exchange_strong(expected, Runtimes::one);
}

std::string own_path() {
    Dl_info info{};
    return dladdr(reinterpret_cast<const void*>(&require_only_runtime), &info) != 0 ? info.dli_fname
                                                                                    : "libcudart-cpu.so";
}

/// Ends the program if another runtime precedes this one: it gets the program's calls, and would at best report the
/// kernels registered here as invalid functions. Nobody calls this runtime, so no call can return an error.
void require_first_runtime() {
    Dl_info first{};
    void* extra = nullptr;
    const void* const taken = dlsym(RTLD_DEFAULT, registering);
    if (taken == nullptr || dladdr1(taken, &first, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return;
    Dl_info own{};
    if (dladdr(reinterpret_cast<const void*>(&require_only_runtime), &own) == 0 || first.dli_fbase == own.dli_fbase)
        return;
    const auto& module = *static_cast<const link_map*>(extra);
    const std::string other = *module.l_name == '\0' ? describe_static(module) : module.l_name;
    std::fprintf(stderr,
                 "cudart-cpu: two CUDA runtimes in one process: %s is linked before the CPU runtime, %s, and takes its "
                 "calls, but does not know its kernels; link only one\n",
                 other.c_str(), own.dli_fname);
    std::abort();
}

} // namespace

void require_only_runtime() {
    Modules& all = modules();
    if (all.runtimes.load(std::memory_order_acquire) == Runtimes::one) [[likely]]
        return;
    if (all.runtimes == Runtimes::unknown) look();
    if (all.runtimes == Runtimes::one) return;
    const std::lock_guard lock(all.mutex);
    fail(cudaErrorInitializationError,
         text("two CUDA runtimes in one process, NVIDIA's in ", all.other, " and the CPU runtime, ",
              file_name(own_path()), ": kernels of one run nothing in the other; link only one"));
}

void note_kernel_module(const void* symbol) noexcept {
    try {
        Dl_info info{};
        void* extra = nullptr;
        if (dladdr1(symbol, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return;
        {
            Modules& all = modules();
            const std::lock_guard lock(all.mutex);
            if (!all.looked_at.insert(info.dli_fbase).second) return;
        }
        require_first_runtime();
        const auto& module = *static_cast<const link_map*>(extra);
        if (has_static_runtime(module)) set_other(describe_static(module));
    } catch (const std::bad_alloc&) {
        // The next call looks again.
    }
}

} // namespace cudart_cpu::detail
