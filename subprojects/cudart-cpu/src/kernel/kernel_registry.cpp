// The kernels registered by this process.
#include "kernel_registry.hpp"

#include "fat_binary.hpp"
#include "kernel_name.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/environment.hpp"
#include "runtime/process_modules.hpp"
#include "runtime/text.hpp"
#include "translated_modules.hpp"

#include <cudart_cpu/detail/stub.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

struct NvccKernel {
    const FatBinary* binary;
    std::string name; ///< mangled
};

struct Registry {
    std::shared_mutex mutex;
    using Names = std::unordered_map<const void*, std::string>;
    using Kernels = std::unordered_map<const void*, KernelEntry>;

    /// The kernels by symbol. Elements never move and are never destroyed.
    Kernels kernels;
    /// Kernels of unloaded modules: graphs may still refer to them.
    std::list<Kernels::node_type> gone;
    /// Kernels of nvcc's registered without a translation, by symbol.
    std::unordered_map<const void*, NvccKernel> of_nvcc;
    std::unordered_map<const void*, const KernelEntry*> by_kernel_handle;
    std::unordered_map<const void*, const KernelEntry*> by_function_handle;
    /// Definitions of C++ kernels, registered at the first request for a kernel.
    std::vector<const KernelDefinition*> definitions;
    Names names;
    std::list<Names::node_type> gone_names; ///< callers have pointers to these names
};

/// Never destroyed: kernels may be launched after main().
Registry& registry() {
    static auto* registry = new Registry;
    return *registry;
}

/// The beginning of the module around `place`; null for the program itself.
const void* unloadable_module(const void* place) {
    Dl_info info{};
    void* extra = nullptr;
    if (dladdr1(place, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return nullptr;
    return *static_cast<const link_map*>(extra)->l_name == '\0' ? nullptr : info.dli_fbase;
}

void forget(Registry& all, Registry::Kernels::iterator kernel) {
    const KernelEntry& entry = kernel->second;
    all.by_kernel_handle.erase(&entry);
    for (const char& handle : entry.function_handles)
        all.by_function_handle.erase(&handle);
    if (const auto name = all.names.find(entry.symbol); name != all.names.end())
        all.gone_names.push_back(all.names.extract(name));
    all.gone.push_back(all.kernels.extract(kernel));
}

void note_functions(Registry& all, const KernelEntry& entry) {
    for (const char& handle : entry.function_handles)
        all.by_function_handle.emplace(&handle, &entry);
}

/// Throws if nvcc compiled the kernel.
void refuse_nvcc_kernel(const void* function) {
    const std::shared_lock lock(registry().mutex);
    const auto found = registry().of_nvcc.find(function);
    if (found == registry().of_nvcc.end()) return;
    const std::string reason =
        text("kernel ", readable_name(found->second.name.c_str()),
             " was compiled by nvcc for NVIDIA's runtime, and cannot be translated: ", found->second.binary->refusal(),
             "; or compile its .cu file by cudag_kernels or tools/nvcc_kernels.py");
    tell_refusal(reason);
    fail(cudaErrorInvalidDeviceFunction, reason);
}

} // namespace

void note_nvcc_kernel(const FatBinary& binary, const void* symbol, const char* name, const ptx::ModuleRow* module) {
    Registry& all = registry();
    const ptx::KernelRow* const row = module == nullptr ? nullptr : find_kernel_row(*module, name);
    const std::unique_lock lock(all.mutex);
    if (row != nullptr) {
        if (const auto kernel = all.kernels.find(symbol); kernel != all.kernels.end()) forget(all, kernel);
        std::vector<ParamLayout> params;
        for (ptx::u32 i = 0; i < row->param_count; ++i)
            params.push_back({row->params[2 * i], row->params[2 * i + 1]});
        KernelEntry& entry = all.kernels.try_emplace(symbol, symbol, nullptr, std::move(params)).first->second;
        entry.module = module;
        entry.translated = row;
        entry.binary = &binary;
        entry.max_dynamic_shared_bytes = static_shared_limit - static_cast<int>(row->static_shared);
        all.by_kernel_handle.emplace(&entry, &entry);
        note_functions(all, entry);
        all.names.insert_or_assign(symbol, row->name);
        return;
    }
    all.of_nvcc.insert_or_assign(symbol, NvccKernel{&binary, name});
    if (const auto kernel = all.kernels.find(symbol); kernel != all.kernels.end()) forget(all, kernel);
}

void forget_nvcc_kernels(const FatBinary* binary) noexcept {
    Registry& all = registry();
    const std::unique_lock lock(all.mutex);
    std::erase_if(all.of_nvcc, [&](const auto& kernel) { return kernel.second.binary == binary; });
    for (auto kernel = all.kernels.begin(); kernel != all.kernels.end();) {
        const auto next = std::next(kernel);
        if (kernel->second.binary == binary) forget(all, kernel);
        kernel = next;
    }
}

void forget_kernels(const void* place) noexcept {
    const void* const module = is_forked_child() ? nullptr : unloadable_module(place);
    if (module == nullptr) return;
    Registry& all = registry();
    const std::unique_lock lock(all.mutex);
    std::erase_if(all.definitions,
                  [=](const KernelDefinition* definition) { return unloadable_module(definition) == module; });
    for (auto kernel = all.kernels.begin(); kernel != all.kernels.end();) {
        const auto next = std::next(kernel);
        const KernelEntry& entry = kernel->second;
        if (unloadable_module(entry.symbol) == module ||
            unloadable_module(reinterpret_cast<const void*>(entry.call)) == module) {
            forget(all, kernel);
        }
        kernel = next;
    }
}

void register_kernel(const void* symbol, CallThunk call, const ParamLayout* params, std::size_t count) {
    {
        const std::shared_lock lock(registry().mutex);
        if (registry().kernels.contains(symbol)) {
            return;
        }
    }
    note_kernel_module(symbol);
    const std::unique_lock lock(registry().mutex);
    if (registry().of_nvcc.contains(symbol)) {
        return; // its launches report this
    }
    const auto [found, is_new] =
        registry().kernels.try_emplace(symbol, symbol, call, std::vector<ParamLayout>(params, params + count));
    if (is_new) {
        const KernelEntry& entry = found->second;
        registry().by_kernel_handle.emplace(&entry, &entry);
        note_functions(registry(), entry);
    }
}

void define_kernel(const KernelDefinition* definition) noexcept {
    const std::unique_lock lock(registry().mutex);
    registry().definitions.push_back(definition);
}

namespace {

/// Registers all kernels defined in C++.
void register_definitions() {
    static std::mutex one_at_a_time; // a thread finding none left must find them registered
    const std::lock_guard turn(one_at_a_time);
    std::vector<const KernelDefinition*> definitions;
    {
        const std::unique_lock lock(registry().mutex);
        definitions.swap(registry().definitions);
    }
    for (const KernelDefinition* kernel : definitions)
        register_kernel(kernel->symbol, kernel->call, kernel->params, kernel->count);
}

const KernelEntry* find_known(const void* function, Forms forms) {
    const Registry& known = registry();
    const std::shared_lock lock(registry().mutex);
    if (const auto found = known.kernels.find(function); found != known.kernels.end()) {
        return &found->second;
    }
    if (forms != Forms::symbol) {
        if (const auto found = known.by_kernel_handle.find(function); found != known.by_kernel_handle.end()) {
            return found->second;
        }
    }
    if (forms == Forms::symbol_or_handles) {
        if (const auto found = known.by_function_handle.find(function); found != known.by_function_handle.end()) {
            return found->second;
        }
    }
    return nullptr;
}

} // namespace

const KernelEntry* find_kernel(const void* function, Forms forms) {
    const KernelEntry* const known = find_known(function, forms);
    if (known != nullptr) return known;
    if (!translate_binary_of(function)) register_definitions();
    return find_known(function, forms);
}

const KernelEntry& kernel_of(const void* function, cudaError_t unknown, Forms forms) {
    if (function == nullptr) {
        fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    }
    const KernelEntry* kernel = find_kernel(function, forms);
    if (kernel == nullptr) {
        refuse_nvcc_kernel(function);
        fail(unknown, text("cudart-cpu: function ", symbol_name(function),
                           " is not a kernel that is known; compile its .cu file by nvcc_kernels.py, or call "
                           "cudart_cpu::register_kernel(kernel) first"));
    }
    return *kernel;
}

cudaFunction_t function_of(const KernelEntry& kernel, int device) {
    return reinterpret_cast<cudaFunction_t>(const_cast<char*>(&kernel.function_handles[device]));
}

std::optional<int> device_of_function(const void* handle) {
    const std::shared_lock lock(registry().mutex);
    const auto found = registry().by_function_handle.find(handle);
    if (found == registry().by_function_handle.end()) return std::nullopt;
    return static_cast<int>(static_cast<const char*>(handle) - found->second->function_handles);
}

void name_kernel(const void* symbol, const char* name) {
    const std::unique_lock lock(registry().mutex);
    registry().names.try_emplace(symbol, name);
    registry().kernels.at(symbol).is_of_library = true;
}

const KernelEntry* find_kernel_named(const std::string& name) {
    register_definitions();
    std::vector<const KernelEntry*> known;
    {
        const std::shared_lock lock(registry().mutex);
        for (const auto& [symbol, entry] : registry().kernels)
            if (!entry.is_of_module) known.push_back(&entry);
    }
    for (const KernelEntry* kernel : known)
        if (kernel_name(*kernel) == name) return kernel;
    return nullptr;
}

std::vector<const KernelEntry*> take_kernels_of_module(const void* place) {
    register_definitions();
    const void* const module = unloadable_module(place);
    std::vector<const KernelEntry*> kernels;
    {
        const std::shared_lock lock(registry().mutex);
        for (const auto& [symbol, entry] : registry().kernels)
            if (unloadable_module(symbol) == module) kernels.push_back(&entry);
    }
    for (const KernelEntry* kernel : kernels)
        kernel->is_of_library = kernel->is_of_module = true;
    std::ranges::sort(kernels, {}, [](const KernelEntry* kernel) { return kernel_name(*kernel); });
    return kernels;
}

const KernelEntry& empty_kernel_named(const std::string& name) {
    static auto& names = *new std::set<std::string>; // the address of a name is the kernel's symbol
    const void* symbol = nullptr;
    {
        const std::unique_lock lock(registry().mutex);
        symbol = &*names.insert(name).first;
    }
    register_kernel(
        symbol, [](const void*, void**) {}, nullptr, 0);
    name_kernel(symbol, name.c_str());
    return *find_kernel(symbol);
}

const std::string& kernel_name(const KernelEntry& kernel) {
    {
        const std::shared_lock lock(registry().mutex);
        if (const auto found = registry().names.find(kernel.symbol); found != registry().names.end()) {
            return found->second;
        }
    }
    std::string name = symbol_name(kernel.symbol);
    const std::unique_lock lock(registry().mutex);
    return registry().names.try_emplace(kernel.symbol, std::move(name)).first->second;
}

} // namespace cudart_cpu::detail
