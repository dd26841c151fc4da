// Replays of functions with breaks: the function is called, its steps are skipped, their graphs are launched.
#pragma once

#include "step_items.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/detail/step_guide.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/span.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudag::detail {

struct CapturedSegments;
struct AttemptSetup;

/// The buffers of a run, as parameters of one exec; none for one it does not use.
using RunBuffers = std::vector<std::optional<BufferParam<std::byte>>>;

/// A function with breaks, captured.
struct WalkedSteps {
    /// Instantiates the segments. Throws as CaptureAttempt's construction does.
    WalkedSteps(CapturedSegments&& parts, std::vector<StepItem>&& steps, const AttemptSetup& setup);

    std::vector<StepItem> items;
    std::vector<Graph> graphs;
    std::vector<Exec> execs;
    std::vector<RunBuffers> buffers; ///< by segment
};

/// The guide of one replay.
class StepWalk final : public StepGuide {
  public:
    StepWalk(WalkedSteps& steps, cudaStream_t stream) noexcept : steps_(steps), stream_(stream) {}

    [[nodiscard]] bool begin(const GuidedCall& call) override;
    void end(bool has_thrown) override { static_cast<void>(has_thrown); }
    [[nodiscard]] bool is_captured() const noexcept override { return !has_left_; }
    /// Ends the replay after the function has returned. Throws CaptureError if it returned in the middle of a segment.
    void finish() const;

  private:
    [[noreturn]] void refuse_path(const std::string& instead) const;

    WalkedSteps& steps_;
    cudaStream_t stream_;
    std::size_t next_ = 0;
    bool has_skipped_ = false; ///< steps whose segment is not launched yet
    bool has_left_ = false;    ///< on another path since a break: everything is called
};

} // namespace cudag::detail
