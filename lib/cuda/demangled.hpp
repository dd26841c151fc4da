// Names of symbols and types in C++ syntax.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace cudag::detail {

/// The C++ name for a mangled one; the same name if it is no mangled one.
[[nodiscard]] inline std::string demangled(const char* mangled) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                      std::free);
    return name ? name.get() : mangled;
}

} // namespace cudag::detail
