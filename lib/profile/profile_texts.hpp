// Texts of profiles.
#pragma once

#include <cudag/profile.hpp>

#include <set>
#include <string>
#include <string_view>

namespace cudag::detail {

/// The shortest name of a node: its label, else its kernel, else its kind.
[[nodiscard]] std::string short_name(const NodeProfile& node);

/// The devices of the nodes with times.
[[nodiscard]] std::set<int> devices_in(const Profile& profile);

/// Returns `text` as a JSON string; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

} // namespace cudag::detail
