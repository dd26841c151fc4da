// The CPU runtime's functions, as they are behind those of the same name in the library that stands for it.
#pragma once

#include <cuda_runtime_api.h>

#include <dlfcn.h>

namespace cudart_cpu::detail {

/// Of the library that has the CPU runtime.
inline void* runtime_symbol(const char* name) {
    static void* const library = [] {
        Dl_info info{};
        return dladdr(reinterpret_cast<const void*>(&cudaPeekAtLastError), &info) == 0
                   ? nullptr
                   : dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }();
    return dlsym(library, name);
}

/// `Function` is the type of the CPU runtime's function.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(runtime_symbol(name));
}

} // namespace cudart_cpu::detail
