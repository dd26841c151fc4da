// Modules of kernels translated from nvcc's PTX, and their fat binaries.
#include "translated_modules.hpp"

#include "runtime/call.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

namespace cudart_cpu::detail {

namespace {

struct TranslatedModules {
    std::mutex mutex;
    std::vector<const ptx::ModuleRow*> all;
    std::set<const ptx::ModuleRow*> taken; ///< the modules in use for a fat binary
};

/// Never destroyed: modules are forgotten after main().
TranslatedModules& translated_modules() {
    static auto* known = new TranslatedModules;
    return *known;
}

/// The structure handed over by nvcc's host code.
struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* unused;
};
constexpr std::uint32_t wrapper_magic = 0x466243B1;

struct Header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes;
};
constexpr std::uint32_t header_magic = 0xBA55ED50;

/// Computes the same hash as tools/ptx/image.py.
std::uint64_t hash_of(const void* data, std::uint64_t bytes) {
    std::uint64_t sum = 0;
    std::uint64_t weighted = 0;
    for (std::uint64_t i = 0; i < bytes / 8; ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + 8 * i, 8);
        sum += word;
        weighted += (i + 1) * word;
    }
    return sum ^ (weighted << 1);
}

const void* base_of(const void* place) {
    Dl_info info{};
    return dladdr(place, &info) != 0 ? info.dli_fbase : nullptr;
}

} // namespace

const ptx::ModuleRow* take_module(const void* fat_binary) {
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    if (known.all.empty()) return nullptr;
    const std::string_view image = image_of(fat_binary);
    if (image.empty()) return nullptr;
    const std::uint64_t hash = hash_of(image.data(), image.size());
    // A file compiled twice gives two equal binaries, each with variables of its own.
    const auto rank = [&](const ptx::ModuleRow* module) {
        return 2 * (base_of(module) == base_of(fat_binary) ? 1 : 0) + (known.taken.contains(module) ? 0 : 1);
    };
    const ptx::ModuleRow* found = nullptr;
    for (const ptx::ModuleRow* module : known.all)
        if (module->image_bytes == image.size() && module->image_hash == hash &&
            (found == nullptr || rank(module) > rank(found)))
            found = module;
    if (found != nullptr) known.taken.insert(found);
    return found;
}

void give_back_module(const ptx::ModuleRow* module) {
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    known.taken.erase(module);
}

std::string_view image_of(const void* fat_binary) {
    Wrapper wrapper;
    std::memcpy(&wrapper, fat_binary, sizeof wrapper);
    if (wrapper.magic != wrapper_magic || wrapper.data == nullptr) return {};
    Header header;
    std::memcpy(&header, wrapper.data, sizeof header);
    if (header.magic != header_magic) return {};
    return {static_cast<const char*>(wrapper.data), header.header_bytes + header.bytes};
}

std::string_view fat_binary_at(const char* place, std::size_t available) {
    std::uint32_t magic = 0;
    if (available < sizeof(Header) || std::memchr(place, '\0', sizeof magic) != nullptr) return {};
    std::memcpy(&magic, place, sizeof magic);
    if (magic == wrapper_magic) return image_of(place);
    if (magic != header_magic) return {};
    Header header;
    std::memcpy(&header, place, sizeof header);
    const std::size_t bytes = header.header_bytes + header.bytes;
    return bytes <= available ? std::string_view(place, bytes) : std::string_view();
}

const ptx::ModuleRow* load_module(const char* path, std::string& refusal) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    link_map* map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
        const char* const reason = dlerror();
        refusal = reason == nullptr ? "its translation cannot be loaded" : reason;
        return nullptr;
    }
    const void* const base = base_of(map->l_ld);
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    const auto found =
        std::ranges::find_if(known.all, [=](const ptx::ModuleRow* module) { return base_of(module) == base; });
    if (found == known.all.end()) {
        refusal = "its translation is for another version of cudart-cpu";
        return nullptr;
    }
    const ptx::ModuleRow* const module = *found;
    known.all.erase(found);
    return module;
}

const ptx::KernelRow* find_kernel_row(const ptx::ModuleRow& module, const char* name) {
    const auto* const end = module.kernels + module.kernel_count;
    const auto* const found =
        std::find_if(module.kernels, end, [=](const ptx::KernelRow& row) { return std::strcmp(row.name, name) == 0; });
    return found == end ? nullptr : found;
}

const ptx::VariableRow* find_variable_row(const ptx::ModuleRow& module, const char* name) {
    const auto* const end = module.variables + module.variable_count;
    const auto* const found = std::find_if(
        module.variables, end, [=](const ptx::VariableRow& row) { return std::strcmp(row.name, name) == 0; });
    return found == end ? nullptr : found;
}

std::pair<const ptx::ModuleRow*, const ptx::KernelRow*> find_kernel_by_code(const void* code) {
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    for (const ptx::ModuleRow* module : known.all)
        for (ptx::u32 i = 0; i < module->kernel_count; ++i)
            if (reinterpret_cast<const void*>(module->kernels[i].thread) == code) return {module, &module->kernels[i]};
    return {nullptr, nullptr};
}

bool is_in_variable(ptx::u64 at, ptx::u64 bytes) {
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    for (const ptx::ModuleRow* module : known.all)
        for (ptx::u32 i = 0; i < module->variable_count; ++i) {
            const auto begin = reinterpret_cast<ptx::u64>(module->variables[i].address);
            const ptx::u64 size = module->variables[i].bytes;
            if (at >= begin && at - begin <= size && bytes <= size - (at - begin)) return true;
        }
    return false;
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu;
using namespace cudart_cpu::detail;

CUDART_CPU_API void cudart_cpu_register_module(const ptx::ModuleRow* module) {
    if (module->version != ptx::module_version) {
        std::fprintf(stderr,
                     "cudart-cpu: kernels were translated for version %u of this runtime's kernels, which has %u; "
                     "compile them anew\n",
                     module->version, ptx::module_version);
        return;
    }
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    known.all.push_back(module);
}

CUDART_CPU_API void cudart_cpu_forget_module(const ptx::ModuleRow* module) {
    TranslatedModules& known = translated_modules();
    const std::lock_guard lock(known.mutex);
    std::erase(known.all, module);
    known.taken.erase(module);
}
