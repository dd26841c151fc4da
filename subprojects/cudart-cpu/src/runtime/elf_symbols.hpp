// Reads names of functions and sizes of variables from the symbol table of an ELF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

/// The function at `address`, as the file counts addresses. Nothing if the file cannot be read, is stripped, or is
/// no 64-bit ELF file.
std::optional<std::string> elf_function_name(const std::string& path, std::uint64_t address);

/// The same for the size of the variable at `address`.
std::optional<std::uint64_t> elf_variable_size(const std::string& path, std::uint64_t address);

/// Whether the file has a function of this name of its own. Not seen where it is stripped.
bool elf_has_function(const std::string& path, const std::string& name);

/// Whether the file has a section of this name.
bool elf_has_section(const std::string& path, const std::string& name);

} // namespace cudart_cpu::detail
