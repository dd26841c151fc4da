// Launches of segments and breaks.
#include "segmented_state.hpp"

#include "crossing_buffers.hpp"
#include "cuda/failure.hpp"
#include "cuda/open_captures.hpp"
#include "shared_owners.hpp"

#include <cudag/capture_mode.hpp>
#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace cudag::detail {

class SegmentedState::Launch {
  public:
    Launch(SegmentedState& state, cudaStream_t stream) : state_(state), stream_(stream) {
        if (!state.kept_.empty()) mark_ = state.in_flight_.mark(stream);
    }
    ~Launch() {
        if (mark_) state_.in_flight_.launched(*std::move(mark_), stream_);
    }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

  private:
    SegmentedState& state_;
    cudaStream_t stream_;
    std::optional<LaunchMark> mark_;
};

SegmentedState::SegmentedState(CapturedSegments&& captured, const SegmentOptions& options)
    : parts_(std::move(captured)), runs_(parts_.breaks.size()) {
    if (!parts_.breaks.empty()) {
        Owners owners;
        for (const std::shared_ptr<const void>& owner : parts_.owners)
            owners.push_back({0, 0, owner});
        for (const CapturedBreak& each : parts_.breaks)
            owners.push_back({0, 0, each.task.function});
        kept_ = version_of(std::move(owners));
    }
    share_owners(parts_);
    if (options.share_execs && !parts_.graphs.empty()) {
        shared_.emplace(ExecCacheOptions{.capacity = parts_.graphs.size(), .instantiate = options.instantiate});
        return;
    }
    execs_.reserve(parts_.graphs.size());
    for (const Graph& graph : parts_.graphs)
        execs_.push_back(graph.instantiate(options.instantiate));
}

SegmentedState::~SegmentedState() {
    parts_.owners.clear();
    for (CapturedBreak& each : parts_.breaks)
        each.task.function.reset();
    in_flight_.retire(std::move(kept_));
}

void SegmentedState::launch(cudaStream_t stream) {
    const auto subject = [] { return Subject{"SegmentedGraph::launch", {}, {}}; };
    require_recorded(stream, subject);
    if (!parts_.breaks.empty() && capture_status(stream) != CaptureStatus::none)
        refuse<CaptureError>(fmt::format("the stream is being captured, and the break \"{}\" at {} cannot be recorded: "
                                         "launch it outside of captures",
                                         parts_.breaks.front().label, parts_.breaks.front().location),
                             subject(), cudaErrorStreamCaptureUnsupported);
    const Launch launch(*this, stream);
    std::size_t next = 0;
    for (std::size_t i = 0; i < parts_.breaks.size(); ++i) {
        const CapturedBreak& each = parts_.breaks[i];
        for (; next < each.segments; ++next)
            launch_segment(next, stream);
        each.task.call(each.task.function.get(), stream);
        ++runs_[i];
    }
    for (; next < parts_.graphs.size(); ++next)
        launch_segment(next, stream);
    ++launches_;
}

void SegmentedState::launch_segment(std::size_t index, cudaStream_t stream) {
    if (shared_)
        static_cast<void>(shared_->launch(parts_.graphs[index], stream));
    else
        execs_[index].launch(stream);
}

void SegmentedState::require_segment(std::size_t index) const {
    if (index < parts_.graphs.size()) return;
    refuse(fmt::format("SegmentedGraph: segment {} was asked for, but there are {}: see segment_count()", index,
                       parts_.graphs.size()));
}

const Graph& SegmentedState::graph(std::size_t index) const {
    require_segment(index);
    return parts_.graphs[index];
}

Exec& SegmentedState::exec(std::size_t index) {
    require_segment(index);
    if (shared_)
        refuse(
            fmt::format("SegmentedGraph: segment {} has no Exec of its own with share_execs: update its graph, which "
                        "the next launch applies",
                        index));
    return execs_[index];
}

SegmentedReport SegmentedState::report() const {
    SegmentedReport report;
    for (const Graph& graph : parts_.graphs)
        report.nodes.push_back(graph.node_count());
    for (std::size_t i = 0; i < parts_.breaks.size(); ++i)
        report.breaks.push_back(
            {parts_.breaks[i].label, parts_.breaks[i].location, parts_.breaks[i].segments, runs_[i]});
    report.crossing = crossing_buffers(parts_.graphs);
    for (CrossingBuffer& buffer : report.crossing)
        for (const CapturedBreak& each : parts_.breaks)
            if (buffer.first < each.segments && each.segments <= buffer.last) buffer.breaks.push_back(each.label);
    report.launches = launches_;
    report.execs = shared_ ? shared_->stats().execs : execs_.size();
    return report;
}

CacheContent SegmentedState::content() const {
    CacheContent content{.owners = parts_.owners};
    for (const Exec& exec : execs_)
        content.execs.push_back(&exec);
    if (!shared_) return content;
    for (const Graph& graph : parts_.graphs)
        content.graphs.push_back(&graph);
    content.held = shared_->stats().bytes;
    content.is_measured = true;
    return content;
}

} // namespace cudag::detail
