// The pictures in plain C++: the answers for --verify. Shares no code with the kernels.
#pragma once

#include "program/image.hpp"

#include <cstdint>
#include <vector>

namespace photo {

/// Develops a picture on the host.
std::vector<std::uint8_t> developed(const example::Image& image, int clipped, int amount);

} // namespace photo
