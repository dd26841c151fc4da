// Device variables: found by their address, measured by the program's symbol table.
#include "symbols.hpp"

#include "fat_binary.hpp"
#include "memory/device_variables.hpp"
#include "runtime/call.hpp"
#include "runtime/elf_symbols.hpp"
#include "runtime/text.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace cudart_cpu::detail {

namespace {

/// The variable behind a symbol of nvcc's host code, which names it by another variable.
struct Shadow {
    const FatBinary* binary;
    const char* address; ///< null if it is only declared
    std::size_t bytes;
};

struct Table {
    std::shared_mutex mutex;
    std::map<const void*, Shadow> shadows;
};

/// Never destroyed: symbols may be used after main().
Table& table() {
    static auto* table = new Table;
    return *table;
}

std::optional<std::size_t> size_of(const void* symbol) {
    Dl_info info{};
    void* extra = nullptr;
    if (dladdr1(symbol, &info, &extra, RTLD_DL_SYMENT) != 0 && extra != nullptr && info.dli_saddr == symbol) {
        const auto& entry = *static_cast<const ElfW(Sym)*>(extra);
        return ELF64_ST_TYPE(entry.st_info) == STT_OBJECT ? std::optional<std::size_t>(entry.st_size) : std::nullopt;
    }
    if (dladdr1(symbol, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) {
        return std::nullopt;
    }
    const auto& module = *static_cast<const link_map*>(extra);
    // The program itself has an empty name.
    const char* path = *module.l_name == '\0' ? "/proc/self/exe" : module.l_name;
    return elf_variable_size(path, reinterpret_cast<std::uintptr_t>(symbol) - module.l_addr);
}

/// Finds the variable behind nvcc's `symbol`.
std::optional<Shadow> find_shadow(const void* symbol) {
    const std::shared_lock lock(table().mutex);
    const auto found = table().shadows.find(symbol);
    return found == table().shadows.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

Range symbol_range(const void* symbol) {
    if (const std::optional<Shadow> shadow = find_shadow(symbol)) {
        if (shadow->address == nullptr)
            fail(cudaErrorInvalidSymbol,
                 text(symbol, " is declared extern: each .cu file has its own variable, unless compiled by -rdc=true"));
        return {const_cast<char*>(shadow->address), shadow->bytes, cudaMemoryTypeDevice};
    }
    if (const std::optional<Range> known = variable_at(symbol)) return *known;
    if (translate_binary_of(symbol)) return symbol_range(symbol);
    const std::optional<std::size_t> bytes = symbol == nullptr ? std::nullopt : size_of(symbol);
    if (!bytes) {
        fail(cudaErrorInvalidSymbol, text(symbol, " is no device variable"));
    }
    note_variable(symbol, *bytes);
    return *variable_at(symbol);
}

void note_symbol(const FatBinary& binary, const void* symbol, void* address, std::size_t bytes) {
    note_variable(address, bytes);
    const std::unique_lock lock(table().mutex);
    table().shadows.insert_or_assign(symbol, Shadow{&binary, static_cast<const char*>(address), bytes});
}

void note_extern_symbol(const FatBinary& binary, const void* symbol) {
    const std::unique_lock lock(table().mutex);
    table().shadows.insert_or_assign(symbol, Shadow{&binary, nullptr, 0});
}

void forget_symbols(const FatBinary* binary) noexcept {
    const std::unique_lock lock(table().mutex);
    std::erase_if(table().shadows, [&](const auto& entry) {
        if (entry.second.binary != binary) return false;
        if (entry.second.address != nullptr) forget_variable(entry.second.address);
        return true;
    });
}

} // namespace cudart_cpu::detail
