// Objects that the process has once, and never destroys.
#pragma once

#include <cstddef>
#include <new>

namespace cudag::detail {

/// Returns the object of this type that the process has, made by the first call. It is never destroyed, since buffers,
/// pools and Execs may end after static objects. It needs no allocation, which could fail.
template <class Object>
[[nodiscard]] Object& never_destroyed() noexcept {
    alignas(Object) static std::byte memory[sizeof(Object)]; // a constant of each caller, which is listed
    static auto* object = new (memory) Object;               // a constant
    return *object;
}

} // namespace cudag::detail
