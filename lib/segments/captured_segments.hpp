// The parts of a capture with breaks.
#pragma once

#include <cudag/detail/eager_task.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cudag::detail {

struct CapturedBreak {
    std::string label;
    SourceLocation location;
    EagerTask task;
    std::size_t segments; ///< number of segments before the break
};

struct CapturedSegments {
    std::vector<Graph> graphs{}; ///< none is empty
    std::vector<CapturedBreak> breaks{};
    std::vector<std::shared_ptr<const void>> owners{}; ///< of all segments
};

} // namespace cudag::detail
