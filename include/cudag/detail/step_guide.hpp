// StepGuide: a cache's way to decide which steps of a function are called.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cstdint>
#include <string_view>

namespace cudag::detail {

enum class StepKind : std::uint8_t { step, eager, fork, join };

/// A call on Steps, outside of other steps.
struct GuidedCall {
    StepKind kind;
    std::string_view label; ///< empty for forks and joins
    const SourceLocation& location;
    bool has_result = false; ///< a step that returns a value cannot be skipped
};

class CUDAG_EXPORT StepGuide {
  public:
    StepGuide() = default;
    StepGuide(const StepGuide&) = delete;
    StepGuide& operator=(const StepGuide&) = delete;

    /// Returns whether the function is to be called, or the fork or join made, and not skipped.
    [[nodiscard]] virtual bool begin(const GuidedCall& call) = 0;
    /// Called after a function that was called, in the end also after an exception.
    virtual void end(bool has_thrown) = 0;
    /// Whether work between the steps belongs to a capture, or to its replay.
    [[nodiscard]] virtual bool is_captured() const noexcept = 0;

  protected:
    ~StepGuide() = default;
};

} // namespace cudag::detail
