// The guide of a captured function: notes its steps, and ends a segment at each break.
#pragma once

#include "step_items.hpp"

#include <cudag/detail/step_guide.hpp>
#include <cudag/stream_capture.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

class StepRecorder final : public StepGuide {
  public:
    /// `learned` are the steps to become breaks.
    StepRecorder(StreamCapture& capture, std::span<const LearnedBreak> learned) noexcept
        : capture_(capture), learned_(learned) {}

    [[nodiscard]] bool begin(const GuidedCall& call) override;
    void end(bool has_thrown) override;
    [[nodiscard]] bool is_captured() const noexcept override { return true; }

    [[nodiscard]] bool has_breaks() const noexcept { return has_breaks_; }
    /// The step without a result that ended with the first exception, unless it is a break.
    [[nodiscard]] const std::optional<std::size_t>& failed() const noexcept { return failed_; }
    [[nodiscard]] const StepItem& item(std::size_t number) const noexcept { return items_[number]; }

    /// Ends the capture of a function with breaks. Throws CaptureError if replays cannot skip its steps: if it has
    /// recorded work outside of them, if a step has a result, or if the function has a result, or has allocated
    /// `made_bytes`.
    [[nodiscard]] CapturedSegments finish(bool has_result, std::size_t made_bytes);
    [[nodiscard]] std::vector<StepItem> take_items() noexcept { return std::move(items_); }

  private:
    /// Notes work recorded since the last step.
    void look_outside();
    /// Marks the items since the last break as parts of segment `segment`, if it has nodes.
    void end_segment(std::size_t segment, bool has_nodes) noexcept;
    [[nodiscard]] std::uint32_t node_count() const;

    StreamCapture& capture_;
    std::span<const LearnedBreak> learned_;
    std::vector<StepItem> items_;
    std::size_t in_segment_ = 0;    ///< the first item after the last break
    std::uint32_t known_nodes_ = 0; ///< of the segment under way, after the last step
    std::size_t under_way_ = 0;     ///< the item that is being called
    std::optional<std::size_t> failed_;
    std::string obstacle_;    ///< why steps cannot be skipped
    bool has_result_ = false; ///< the step under way
    bool has_breaks_ = false;
};

} // namespace cudag::detail
