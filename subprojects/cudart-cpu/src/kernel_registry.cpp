// The kernels that this process has registered.
#include "kernel_registry.hpp"

#include "call.hpp"
#include "graph_text.hpp"
#include "kernel_name.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

struct Registry {
    std::shared_mutex mutex;
    /// By symbol. Elements never move and are never removed.
    std::unordered_map<const void*, KernelEntry> kernels;
    std::unordered_map<const void*, const KernelEntry*> by_kernel_handle;
    std::unordered_map<const void*, const KernelEntry*> by_function_handle;
    std::unordered_map<const void*, std::string> names;
};

/// Never destroyed: kernels may be launched after main().
Registry& registry() {
    static auto* registry = new Registry;
    return *registry;
}

} // namespace

void register_kernel(const void* symbol, CallThunk call, const ParamLayout* params, std::size_t count) {
    {
        const std::shared_lock lock(registry().mutex);
        if (registry().kernels.contains(symbol)) {
            return;
        }
    }
    const std::unique_lock lock(registry().mutex);
    const auto [found, is_new] =
        registry().kernels.try_emplace(symbol, symbol, call, std::vector<ParamLayout>(params, params + count));
    if (is_new) {
        const KernelEntry& entry = found->second;
        registry().by_kernel_handle.emplace(&entry, &entry);
        registry().by_function_handle.emplace(&entry.function_handle, &entry);
    }
}

const KernelEntry* find_kernel(const void* function, Forms forms) {
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

const KernelEntry& kernel_of(const void* function, cudaError_t unknown, Forms forms) {
    if (function == nullptr) {
        fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    }
    const KernelEntry* kernel = find_kernel(function, forms);
    if (kernel == nullptr) {
        fail(unknown, text("cudart-cpu: function ", symbol_name(function),
                           " is not registered; call cudart_cpu::register_kernel(kernel) first"));
    }
    return *kernel;
}

cudaFunction_t function_of(const KernelEntry& kernel) {
    return reinterpret_cast<cudaFunction_t>(const_cast<char*>(&kernel.function_handle));
}

void name_kernel(const void* symbol, const char* name) {
    const std::unique_lock lock(registry().mutex);
    registry().names.try_emplace(symbol, name);
    registry().kernels.at(symbol).is_of_library = true;
}

const KernelEntry* find_kernel_named(const std::string& name) {
    std::vector<const KernelEntry*> known;
    {
        const std::shared_lock lock(registry().mutex);
        for (const auto& [symbol, entry] : registry().kernels)
            known.push_back(&entry);
    }
    for (const KernelEntry* kernel : known)
        if (kernel_name(*kernel) == name) return kernel;
    return nullptr;
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
