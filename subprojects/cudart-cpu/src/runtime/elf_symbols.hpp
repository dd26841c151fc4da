// A reader of the symbol table of ELF files: names of functions and sizes of variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

/// Returns the name of the function at `address`, an address within the file. Returns nothing if the file cannot be
/// read, is stripped, or is no 64-bit ELF file.
std::optional<std::string> elf_function_name(const std::string& path, std::uint64_t address);

/// Returns the size of the variable at `address`; nothing in the same cases.
std::optional<std::uint64_t> elf_variable_size(const std::string& path, std::uint64_t address);

/// Whether the file defines a function of this name. False if the file is stripped.
bool elf_has_function(const std::string& path, const std::string& name);

/// Whether the file has a section of this name.
bool elf_has_section(const std::string& path, const std::string& name);

} // namespace cudart_cpu::detail
