// The checks that CUDAG_CHECK switches on without a recompile.
#pragma once

#include <string_view>

namespace cudag::detail {

/// Whether the environment variable CUDAG_CHECK, a list of names with commas, has `name`, one of `all_checks`. Prints
/// a line on stderr for a name that is not one of them, once for each value of the variable.
[[nodiscard]] bool is_check_on(std::string_view name);

} // namespace cudag::detail
