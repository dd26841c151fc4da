// Device variables: found by their address, measured by the program's symbol table.
#include "symbols.hpp"

#include "fat_binary.hpp"
#include "runtime/call.hpp"
#include "runtime/elf_symbols.hpp"
#include "runtime/text.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace cudart_cpu::detail {

namespace {

/// Of nvcc's host code, which names a variable by another one.
struct Shadow {
    const FatBinary* binary;
    const char* address; ///< null if it is only declared
    std::size_t bytes;
};

struct Table {
    std::shared_mutex mutex;
    std::map<const char*, std::size_t> bytes;
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

Range range_of(const char* base, std::size_t bytes) {
    return {const_cast<char*>(base), bytes, cudaMemoryTypeDevice};
}

} // namespace

Range symbol_range(const void* symbol) {
    const auto* base = static_cast<const char*>(symbol);
    {
        const std::shared_lock lock(table().mutex);
        if (const auto shadow = table().shadows.find(symbol); shadow != table().shadows.end()) {
            if (shadow->second.address == nullptr)
                fail(cudaErrorInvalidSymbol,
                     text(symbol,
                          " is declared extern: each .cu file has its own variable, unless compiled by -rdc=true"));
            return range_of(shadow->second.address, shadow->second.bytes);
        }
        const auto known = table().bytes.find(base);
        if (known != table().bytes.end()) {
            return range_of(base, known->second);
        }
    }
    if (translate_binary_of(symbol)) return symbol_range(symbol);
    const std::optional<std::size_t> bytes = symbol == nullptr ? std::nullopt : size_of(symbol);
    if (!bytes) {
        fail(cudaErrorInvalidSymbol, text(symbol, " is no device variable"));
    }
    const std::unique_lock lock(table().mutex);
    table().bytes.emplace(base, *bytes);
    return range_of(base, *bytes);
}

void note_symbol(const FatBinary& binary, const void* symbol, void* address, std::size_t bytes) {
    const auto* const begin = static_cast<const char*>(address);
    const std::unique_lock lock(table().mutex);
    table().shadows.insert_or_assign(symbol, Shadow{&binary, begin, bytes});
    table().bytes.insert_or_assign(begin, bytes);
}

void note_extern_symbol(const FatBinary& binary, const void* symbol) {
    const std::unique_lock lock(table().mutex);
    table().shadows.insert_or_assign(symbol, Shadow{&binary, nullptr, 0});
}

void forget_symbols(const FatBinary* binary) noexcept {
    const std::unique_lock lock(table().mutex);
    std::erase_if(table().shadows, [&](const auto& entry) {
        if (entry.second.binary != binary) return false;
        if (entry.second.address != nullptr) table().bytes.erase(entry.second.address);
        return true;
    });
}

std::optional<Range> find_symbol(const void* pointer) {
    const auto* address = static_cast<const char*>(pointer);
    const std::shared_lock lock(table().mutex);
    const auto after = table().bytes.upper_bound(address);
    if (after == table().bytes.begin()) {
        return std::nullopt;
    }
    const auto& [base, bytes] = *std::prev(after);
    return static_cast<std::size_t>(address - base) < bytes ? std::optional(range_of(base, bytes)) : std::nullopt;
}

} // namespace cudart_cpu::detail
