// CopiedInput: an input of a GraphedFunction that replays copy, and why.
#pragma once

#include <cstddef>
#include <string>

namespace cudag {

/// See GraphedFunction::last_copied.
struct CopiedInput {
    std::size_t input;  ///< counted from 0, without the stream
    std::string reason; ///< "it is host memory", "kernel \"scale\" at a.cpp:12: ..."
    friend bool operator==(const CopiedInput&, const CopiedInput&) = default;
};

} // namespace cudag
