// A reader of the symbol table of ELF files: names of functions and sizes of variables.
#include "elf_symbols.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

namespace cudart_cpu::detail {

namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* into, std::size_t count) {
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(count * sizeof(T)));
    return file.good();
}

std::vector<Elf64_Shdr> read_sections(std::ifstream& file) {
    Elf64_Ehdr header{};
    if (!read_at(file, 0, &header, 1) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
        return {};
    }
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    return read_at(file, header.e_shoff, sections.data(), sections.size()) ? sections : std::vector<Elf64_Shdr>{};
}

struct Found {
    Elf64_Sym symbol;
    std::uint64_t name_offset; // in the file
};

struct SymbolTable {
    std::vector<Elf64_Sym> symbols; ///< empty if there is none
    Elf64_Shdr names{};
};

SymbolTable read_symbols(std::ifstream& file) {
    const std::vector<Elf64_Shdr> sections = read_sections(file);
    const auto found = std::ranges::find_if(sections, [&](const Elf64_Shdr& section) {
        return section.sh_type == SHT_SYMTAB && section.sh_link < sections.size();
    });
    if (found == sections.end()) {
        return {};
    }
    SymbolTable table{std::vector<Elf64_Sym>(found->sh_size / sizeof(Elf64_Sym)), sections[found->sh_link]};
    return read_at(file, found->sh_offset, table.symbols.data(), table.symbols.size()) ? table : SymbolTable{};
}

/// Finds the symbol of this type (STT_FUNC, STT_OBJECT) at `address`.
std::optional<Found> find_symbol_at(std::ifstream& file, std::uint64_t address, unsigned type) {
    const SymbolTable table = read_symbols(file);
    for (const Elf64_Sym& symbol : table.symbols) {
        if (symbol.st_value == address && ELF64_ST_TYPE(symbol.st_info) == type &&
            symbol.st_name < table.names.sh_size) {
            return Found{symbol, table.names.sh_offset + symbol.st_name};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> elf_function_name(const std::string& path, std::uint64_t address) {
    std::ifstream file(path, std::ios::binary);
    const std::optional<Found> found = find_symbol_at(file, address, STT_FUNC);
    if (!found) {
        return std::nullopt;
    }
    std::string name;
    file.seekg(static_cast<std::streamoff>(found->name_offset));
    std::getline(file, name, '\0');
    return name;
}

std::optional<std::uint64_t> elf_variable_size(const std::string& path, std::uint64_t address) {
    std::ifstream file(path, std::ios::binary);
    const std::optional<Found> found = find_symbol_at(file, address, STT_OBJECT);
    return found ? std::optional(found->symbol.st_size) : std::nullopt;
}

bool elf_has_function(const std::string& path, const std::string& name) {
    std::ifstream file(path, std::ios::binary);
    const SymbolTable table = read_symbols(file);
    std::string names(table.names.sh_size, '\0');
    if (!read_at(file, table.names.sh_offset, names.data(), names.size())) {
        return false;
    }
    return std::ranges::any_of(table.symbols, [&](const Elf64_Sym& symbol) {
        return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
               symbol.st_name < names.size() && name == names.c_str() + symbol.st_name;
    });
}

bool elf_has_section(const std::string& path, const std::string& name) {
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    const std::vector<Elf64_Shdr> sections = read_sections(file);
    if (!read_at(file, 0, &header, 1) || header.e_shstrndx >= sections.size()) {
        return false;
    }
    const Elf64_Shdr& table = sections[header.e_shstrndx];
    std::string names(table.sh_size, '\0');
    if (!read_at(file, table.sh_offset, names.data(), names.size())) {
        return false;
    }
    return std::ranges::any_of(sections, [&](const Elf64_Shdr& section) {
        return section.sh_name < names.size() && name == names.c_str() + section.sh_name;
    });
}

} // namespace cudart_cpu::detail
