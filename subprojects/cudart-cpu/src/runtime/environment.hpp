// Numbers from environment variables.
#pragma once

#include <cstdint>

namespace cudart_cpu::detail {

/// Returns the variable's number, 0 if it is absent. Ends the program if the value is no number: a test run that
/// silently ignored its seed would look like a passed one.
std::uint64_t number_from_environment(const char* name);

/// Whether this process is a child of fork() whose parent has used CUDA: it lacks the threads that its objects wait
/// for.
[[nodiscard]] bool is_forked_child() noexcept;

} // namespace cudart_cpu::detail
