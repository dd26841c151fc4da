// CopiedInput: an input copied by the replays of a GraphedFunction, with the reason.
#pragma once

#include <cstddef>
#include <string>

namespace cudag {

/// An input not bound but copied by a `forward`; see GraphedFunction::last_copied.
struct CopiedInput {
    std::size_t input;  ///< index of the input, from 0, not counting the stream
    std::string reason; ///< "it is host memory", "kernel \"scale\" at a.cpp:12: ..."
    friend bool operator==(const CopiedInput&, const CopiedInput&) = default;
};

} // namespace cudag
