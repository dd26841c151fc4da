// Numbers that the environment sets.
#pragma once

#include <cstdint>

namespace cudart_cpu::detail {

/// 0 if the variable is absent. A variable that is no number ends the program: a test run that silently ignored its
/// seed would look like a passed one.
std::uint64_t number_from_environment(const char* name);

/// Whether this process is a child of fork() whose parent has used CUDA: threads that its objects wait for are not in
/// it.
[[nodiscard]] bool is_forked_child() noexcept;

} // namespace cudart_cpu::detail
