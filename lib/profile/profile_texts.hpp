// Texts of profiles.
#pragma once

#include <cudag/profile.hpp>

#include <string>

namespace cudag::detail {

/// The shortest name of a node: its label, else its kernel, else its kind.
[[nodiscard]] std::string short_name(const NodeProfile& node);

} // namespace cudag::detail
