// The kernels, variables and code of one .cu file, as registered by nvcc's host code.
#include "fat_binary.hpp"

#include "image_translation.hpp"
#include "kernel_registry.hpp"
#include "symbols.hpp"
#include "translated_modules.hpp"

#include <cstdio>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// The binaries without a module, by symbol.
struct Untranslated {
    std::shared_mutex mutex;
    std::unordered_map<const void*, FatBinary*> binaries;
};

/// Never destroyed: binaries are unregistered after main().
Untranslated& untranslated() {
    static auto* all = new Untranslated;
    return *all;
}

void add_untranslated(const void* symbol, FatBinary* binary) {
    const std::unique_lock lock(untranslated().mutex);
    untranslated().binaries.insert_or_assign(symbol, binary);
}

void remove_untranslated(const FatBinary* binary) {
    const std::unique_lock lock(untranslated().mutex);
    std::erase_if(untranslated().binaries, [=](const auto& entry) { return entry.second == binary; });
}

} // namespace

FatBinary::FatBinary(const void* wrapper) : wrapper_(wrapper), module_(take_module(wrapper)) {}

FatBinary::FatBinary(const ptx::ModuleRow& module) : wrapper_(nullptr), module_(&module) {}

FatBinary::~FatBinary() {
    remove_untranslated(this);
    forget_nvcc_kernels(this);
    forget_symbols(this);
    if (module_ != nullptr) give_back_module(module_);
}

void FatBinary::add_kernel(const void* symbol, const char* name) {
    note_nvcc_kernel(*this, symbol, name, module_);
    if (module_ != nullptr) return;
    kernels_.emplace_back(symbol, name);
    add_untranslated(symbol, this);
}

void FatBinary::add_variable(const void* symbol, const char* name, std::size_t bytes) {
    const Variable variable{symbol, name, bytes};
    if (module_ != nullptr) return note(variable);
    variables_.push_back(variable);
    add_untranslated(symbol, this);
}

void FatBinary::add_managed_variable(void** pointer, const char* name, std::size_t bytes) {
    translate();
    if (module_ == nullptr) {
        std::fprintf(stderr, "cudart-cpu: managed variable %s has no memory: it cannot be translated: %s\n", name,
                     refusal_.c_str());
        return;
    }
    if (const ptx::VariableRow* const row = find_variable_row(*module_, name)) *pointer = row->address;
    note({pointer, name, bytes});
}

void FatBinary::note(const Variable& variable) {
    if (const ptx::VariableRow* const row = find_variable_row(*module_, variable.name.c_str()))
        note_symbol(*this, variable.symbol, row->address, variable.bytes);
}

void FatBinary::load() {
    if (module_ != nullptr) return;
    const std::string_view image = image_of(wrapper_);
    if (image.empty()) {
        refusal_ = "its fat binary has a format of its own";
        return;
    }
    module_ = translate_image(image, refusal_);
    if (module_ == nullptr) return;
    for (const auto& [symbol, name] : std::exchange(kernels_, {}))
        note_nvcc_kernel(*this, symbol, name.c_str(), module_);
    for (const Variable& variable : std::exchange(variables_, {}))
        note(variable);
}

void FatBinary::translate() {
    std::call_once(translated_, [this] { load(); });
}

bool translate_binary_of(const void* symbol) {
    FatBinary* binary = nullptr;
    {
        const std::shared_lock lock(untranslated().mutex);
        const auto found = untranslated().binaries.find(symbol);
        if (found == untranslated().binaries.end()) return false;
        binary = found->second;
    }
    binary->translate();
    remove_untranslated(binary);
    return true;
}

} // namespace cudart_cpu::detail
