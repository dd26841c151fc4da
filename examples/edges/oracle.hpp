// What the pipeline must produce, computed in plain C++: one pixel at a time, straight from the definitions.
#pragma once

#include "image.hpp"

namespace edges {

struct Expected {
    std::vector<std::uint8_t> edges;
    int next_threshold = 0;
};

/// The right result for one frame. Equal to the pipeline's byte for byte: neither rounds anything.
Expected expected_result(const Image& frame, int threshold);

} // namespace edges
