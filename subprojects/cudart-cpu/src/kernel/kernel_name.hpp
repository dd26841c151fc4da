// The name of a function, by its address.
#pragma once

#include <string>

namespace cudart_cpu::detail {

/// The mangled name, from the dynamic symbols or else from the symbol table of the function's file; in a stripped file,
/// the address in hexadecimal.
std::string symbol_name(const void* function);

/// The name in the form of C++: "add1(int*, int)" for "_Z4add1Pii".
std::string readable_name(const char* mangled);

} // namespace cudart_cpu::detail
