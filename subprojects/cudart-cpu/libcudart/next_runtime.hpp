// Access to the CPU runtime's functions from the library that stands for it, which has the same names.
#pragma once

#include <cuda_runtime_api.h>

#include <dlfcn.h>

namespace cudart_cpu::detail {

/// Returns the symbol in the library of the CPU runtime.
inline void* runtime_symbol(const char* name) {
    static void* const library = [] {
        Dl_info info{};
        return dladdr(reinterpret_cast<const void*>(&cudaPeekAtLastError), &info) == 0
                   ? nullptr
                   : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return dlsym(library, name);
}

/// Returns the CPU runtime's function of this name and type.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(runtime_symbol(name));
}

} // namespace cudart_cpu::detail
