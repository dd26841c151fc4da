// Text for log lines and titles.
#pragma once

#include <vector_types.h>

#include <sstream>
#include <string>

namespace cudart_cpu::detail {

inline std::ostream& operator<<(std::ostream& out, const dim3& d) {
    return out << '(' << d.x << ',' << d.y << ',' << d.z << ')';
}

/// Joins the parts.
template <class... Part>
std::string text(const Part&... part) {
    std::ostringstream out;
    (out << ... << part);
    return out.str();
}

} // namespace cudart_cpu::detail
