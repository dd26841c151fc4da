// The driver's functions by name, version and kind of default stream.
#pragma once

#include <string_view>

namespace cudart_cpu::detail::driver {

enum class DefaultStream { legacy, per_thread };

struct EntryPoint {
    std::string_view name;   ///< as for cuGetProcAddress, without the symbol's version
    std::string_view symbol; ///< in libcuda.so.1
    unsigned since;          ///< the CUDA version that brought this signature
    void* address;
    void* per_thread; ///< for per-thread default streams; null if this makes no difference

    [[nodiscard]] void* address_for(DefaultStream stream) const noexcept {
        return stream == DefaultStream::per_thread && per_thread != nullptr ? per_thread : address;
    }
};

enum class Lookup { found, version_too_old, missing };

struct FoundEntry {
    Lookup result;
    void* address; ///< null unless found
};

/// Finds the newest signature of a function up to `version`, if this driver has it.
FoundEntry find_entry(std::string_view name, unsigned version, DefaultStream stream);

} // namespace cudart_cpu::detail::driver

/// The addresses in the table's order, each function for per-thread default streams after its own: libcuda.so.1 jumps
/// to them.
extern "C" __attribute__((visibility("default"))) void* const cudart_cpu_driver_functions[];
