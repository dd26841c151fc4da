// The checks that CUDAG_CHECK switches on without a recompile.
#pragma once

#include <string_view>

namespace cudag::detail {

/// Whether a list of names with commas has `name`.
[[nodiscard]] bool has_check(std::string_view list, std::string_view name);

/// Whether the environment variable CUDAG_CHECK, such a list, has `name`, one of `all_checks`. The first call reads the
/// variable, and prints a line on stderr for each name that is not one of them.
[[nodiscard]] bool is_check_on(std::string_view name);

} // namespace cudag::detail
