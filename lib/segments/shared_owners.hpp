// Owners shared by all segments of a program.
#pragma once

#include "captured_segments.hpp"

namespace cudag::detail {

/// Gives each graph the owners of all parts, also the functions of breaks: its work may use memory that another part
/// brought.
void share_owners(CapturedSegments& parts);

} // namespace cudag::detail
