// The name of a function, by its address.
#include "kernel_name.hpp"

#include "runtime/elf_symbols.hpp"
#include "runtime/text.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace cudart_cpu::detail {

namespace {

std::optional<std::string> name_from_file(const void* function, const link_map& module) {
    // The program itself has an empty name.
    const char* path = *module.l_name == '\0' ? "/proc/self/exe" : module.l_name;
    return elf_function_name(path, reinterpret_cast<std::uintptr_t>(function) - module.l_addr);
}

} // namespace

std::string symbol_name(const void* function) {
    Dl_info info{};
    void* extra = nullptr;
    if (dladdr1(function, &info, &extra, RTLD_DL_LINKMAP) != 0 && extra != nullptr) {
        if (info.dli_sname != nullptr && info.dli_saddr == function) {
            return info.dli_sname;
        }
        if (auto name = name_from_file(function, *static_cast<const link_map*>(extra))) {
            return *std::move(name);
        }
    }
    return text(function);
}

std::string readable_name(const char* mangled) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                           std::free);
    return demangled ? demangled.get() : mangled;
}

} // namespace cudart_cpu::detail
