// Steps and breaks noted during a capture.
#include "step_recorder.hpp"

#include "capture_state.hpp"
#include "cuda/failure.hpp"
#include "segments/captured_segments.hpp"

#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cudag::detail {

namespace {

const char* name_of(StepKind kind) noexcept {
    return kind == StepKind::fork    ? "fork"
           : kind == StepKind::join  ? "join"
           : kind == StepKind::eager ? "eager"
                                     : "step";
}

} // namespace

std::uint32_t StepRecorder::node_count() const {
    return capture_.state_->node_count({"step"});
}

void StepRecorder::look_outside() {
    if (capture_.status() != CaptureStatus::active) return; // the call itself reports this
    const std::uint32_t now = node_count();
    if (now != known_nodes_ && obstacle_.empty()) {
        obstacle_ = items_.size() == in_segment_ && items_.empty()
                        ? std::string("work was recorded before the first step")
                        : fmt::format("work was recorded outside of steps, behind {} \"{}\" at {}",
                                      name_of(items_.back().kind), items_.back().label, items_.back().location);
    }
    known_nodes_ = now;
}

bool StepRecorder::begin(const GuidedCall& call) {
    look_outside();
    const std::size_t number = items_.size();
    const bool is_learned = std::ranges::any_of(learned_, [&](const LearnedBreak& each) {
        return each.item == number && each.label == call.label && call.kind == StepKind::step;
    });
    const bool is_break = call.kind == StepKind::eager || (is_learned && !call.has_result);
    if (call.has_result && obstacle_.empty())
        obstacle_ = fmt::format("step \"{}\" at {} returns a value, which its replay would not have", call.label,
                                call.location);
    items_.push_back({call.kind, std::string(call.label), call.location, is_break});
    under_way_ = number;
    has_result_ = call.has_result;
    if (!is_break) return true;
    const std::size_t before = capture_.segments_ == nullptr ? 0 : capture_.segments_->graphs.size();
    capture_.add_break(call.label, {}, call.location);
    const std::size_t after = capture_.segments_->graphs.size();
    end_segment(before, after != before);
    items_.back().segment = after;
    in_segment_ = items_.size();
    has_breaks_ = true;
    known_nodes_ = 0;
    return false;
}

void StepRecorder::end(bool has_thrown) {
    if (has_thrown) {
        if (!failed_ && !has_result_) failed_ = under_way_;
        return;
    }
    known_nodes_ = node_count();
}

void StepRecorder::end_segment(std::size_t segment, bool has_nodes) noexcept {
    StepItem* last = nullptr;
    for (std::size_t i = in_segment_; i < items_.size(); ++i) {
        if (items_[i].is_break) continue;
        items_[i].segment = segment;
        items_[i].in_segment = has_nodes;
        last = &items_[i];
    }
    if (last != nullptr) last->ends_segment = has_nodes;
}

CapturedSegments StepRecorder::finish(bool has_result, std::size_t made_bytes) {
    look_outside();
    if (obstacle_.empty() && has_result) obstacle_ = "the function returns a value, which each replay would make anew";
    if (obstacle_.empty() && made_bytes != 0)
        obstacle_ =
            fmt::format("the function allocates {} bytes itself, which each replay would allocate anew", made_bytes);
    if (!obstacle_.empty()) {
        const CaptureCall call{"finish"};
        Subject subject = capture_.state_->subject(call);
        capture_.state_->abandon();
        refuse<CaptureError>(
            fmt::format("the function has breaks, so that each replay calls it and skips its steps, but "
                        "{}: put all work into steps without results, and let callers own the memory",
                        obstacle_),
            std::move(subject), cudaErrorStreamCaptureUnsupported);
    }
    CapturedSegments parts = capture_.end_segments({"finish"});
    const std::size_t last = parts.breaks.back().segments;
    end_segment(last, parts.graphs.size() != last);
    return parts;
}

} // namespace cudag::detail
