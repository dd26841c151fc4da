// The name of a function, by its address.
#pragma once

#include <string>

namespace cudart_cpu::detail {

/// The mangled name, from the dynamic symbols or else from the symbol table of the file that the function was loaded
/// from; in a stripped file, the address in hexadecimal.
std::string symbol_name(const void* function);

} // namespace cudart_cpu::detail
