// The walk through a function with breaks.
#include "step_walk.hpp"

#include "capture_attempt.hpp"
#include "cuda/failure.hpp"
#include "segments/captured_segments.hpp"
#include "segments/shared_owners.hpp"

#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

WalkedSteps::WalkedSteps(CapturedSegments&& parts, std::vector<StepItem>&& steps, const AttemptSetup& setup)
    : items(std::move(steps)) {
    share_owners(parts);
    graphs = std::move(parts.graphs);
    for (const Graph& graph : graphs) {
        buffers.push_back(CaptureAttempt::find_buffers(graph, setup.buffers));
        execs.push_back(graph.instantiate(setup.instantiate));
        for (const auto& buffer : buffers.back())
            if (buffer) execs.back().bind(*buffer, buffer->span()); // changes nothing: tests the binding
    }
}

bool StepWalk::begin(const GuidedCall& call) {
    if (has_left_) return true;
    if (next_ == steps_.items.size() || !steps_.items[next_].is(call)) {
        if (has_skipped_) refuse_path(fmt::format("came to \"{}\" at {}", call.label, call.location));
        has_left_ = true;
        return true;
    }
    const StepItem& item = steps_.items[next_++];
    if (item.is_break) return true;
    has_skipped_ = item.in_segment && !item.ends_segment;
    if (item.ends_segment) steps_.execs[item.segment].launch(stream_);
    return false;
}

void StepWalk::finish() const {
    if (has_skipped_) refuse_path("returned");
}

void StepWalk::refuse_path(const std::string& instead) const {
    const StepItem& next = steps_.items[next_]; // there is one, in the same segment
    refuse<CaptureError>(
        fmt::format("the function {}, where its capture came to \"{}\" at {}, and the steps since the last break have "
                    "been skipped: put what decides the path into the key, or a break before the decision",
                    instead, next.label, next.location),
        {"CaptureCache: replay of a function with breaks", {next.label}, next.location}, cudaErrorIllegalState);
}

} // namespace cudag::detail
