// libcuda.so.1 beside this library, loaded with it: dlopen("libcuda.so.1") then finds it by its name, in programs that
// are linked to this library alone.
#include "driver_table.hpp"

#include <dlfcn.h>

#include <string>

namespace cudart_cpu::detail::driver {

namespace {

[[gnu::constructor]] void load_neighbour() {
    constexpr const char* name = "libcuda.so.1";
    if (dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != nullptr) return; // the program's own choice
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(cudart_cpu_driver_functions), &info) == 0 || info.dli_fname == nullptr)
        return;
    const std::string path = info.dli_fname;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const char* const neighbour : {"cudart-cpu/", "libcudart/"}) // installed, and as built
        if (dlopen((folder + neighbour + name).c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) return;
}

} // namespace

} // namespace cudart_cpu::detail::driver
