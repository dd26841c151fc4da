// The steps and breaks of a recorded function, in order.
#pragma once

#include <cudag/detail/step_guide.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cudag::detail {

/// A call on Steps, outside of other steps.
struct StepItem {
    StepKind kind;
    std::string label;
    SourceLocation location;
    bool is_break;             ///< called in each replay
    std::size_t segment = 0;   ///< number of the segment with its work, or of the one after the break
    bool in_segment = false;   ///< whether that segment has nodes
    bool ends_segment = false; ///< whether it is the segment's last one

    [[nodiscard]] bool is(const GuidedCall& call) const noexcept { return kind == call.kind && label == call.label; }
};

/// A step that is a break because it cannot be captured.
struct LearnedBreak {
    std::size_t item; ///< its number among all items
    std::string label;
    std::string reason;
};

} // namespace cudag::detail
