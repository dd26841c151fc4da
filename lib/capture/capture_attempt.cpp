// Attempts to capture functions: their failures, apart from the functions' own.
#include "capture_attempt.hpp"

#include "capture_state.hpp"
#include "cuda/failure.hpp"
#include "edges/branches.hpp"
#include "exec/exec_bytes.hpp"
#include "exec/exec_state.hpp"
#include "graph/graph_identity.hpp"
#include "graph/native_graph.hpp"
#include "handles/buffer_uses.hpp"
#include "segments/segmented_state.hpp"
#include "step_recorder.hpp"

#include <cudag/format.hpp>
#include <cudag/stream_capture.hpp>

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <utility>

namespace cudag::detail {

namespace {

/// The number of nodes, by CUDA's count: their records may not have been read. 0 if CUDA fails.
std::size_t count_native_nodes(cudaGraph_t graph) noexcept {
    std::size_t count = 0;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) static_cast<void>(cudaGetLastError());
    return count;
}

/// The error of a function that threw after a break, whose function a capture does not call.
CaptureError thrown_behind(const CapturedBreak& last, Subject&& subject, const char* what) {
    return CaptureError(
        cudaErrorStreamCaptureUnsupported,
        fmt::format("cudag: {}: the function threw behind the break \"{}\" at {}, which is not called in "
                    "the capture: use what it computes in breaks only: {}",
                    subject.text, last.label, last.location, what),
        {{}, {}, {last.label}, last.location});
}

} // namespace

std::size_t estimated_bytes(const Graph& graph) {
    return estimated_exec_bytes(1, count_native_nodes(native_of(Access::state(graph))));
}

std::size_t estimated_bytes(const Graph& graph, const Exec& exec) {
    const std::size_t nodes = count_native_nodes(native_of(Access::state(graph)));
    for (const PlannedGraph& each : Access::state(exec).plan().graphs)
        if (each.graph == &Access::state(exec).source())
            return estimated_exec_bytes(count_branches(nodes + each.planned->kernels, each.planned->edges),
                                        nodes + each.planned->kernels);
    return estimated_exec_bytes(1, nodes);
}

RecordedFunction CaptureAttempt::record(cudaStream_t stream, const AttemptSetup& setup,
                                        const AttemptedFunction& function) {
    const CaptureOptions options{
        .mode = setup.mode, .allow_empty = setup.allow_empty, .refuse_legacy_stream = setup.refuse_legacy_stream};
    std::unique_ptr<CaptureState> begun;
    try {
        begun = std::make_unique<CaptureState>(stream, options, setup.location);
    } catch (const CaptureError& cause) {
        return {.error = cause};
    }
    if (!setup.refuse_legacy_stream) begun->allow_legacy_stream();
    StreamCapture capture(Passkey(), std::move(begun));
    StepRecorder recorder(capture, setup.learned);
    std::optional<MadeMemory> making;
    if (setup.is_cached) making.emplace();
    const auto failure = [&](const Error& cause) {
        RecordedFunction lost;
        lost.error = cause;
        if (const std::optional<std::size_t>& step = recorder.failed())
            lost.failed = LearnedBreak{*step, recorder.item(*step).label, cause.what()};
        return lost;
    };
    try { // any exception after the break of a capture counts as the break: its end reports the cause
        Steps steps(Passkey(), capture, setup.is_cached ? &recorder : nullptr);
        if (const std::shared_ptr<const void> kept = function(steps)) capture.retain(kept);
    } catch (const CaptureError& cause) {
        return failure(cause);
    } catch (const std::exception& cause) {
        if (capture.status() == CaptureStatus::active) {
            if (capture.segments_ == nullptr) throw;
            return failure(
                thrown_behind(capture.segments_->breaks.back(), capture.state_->subject({"capture"}), cause.what()));
        }
    } catch (...) {
        if (capture.status() == CaptureStatus::active) throw;
    }
    RecordedFunction recorded;
    try {
        if (making) recorded.made = making->take();
        if (recorder.has_breaks()) {
            std::size_t bytes = 0;
            for (const MadeBlock& block : recorded.made)
                bytes += block.bytes;
            recorded.parts = recorder.finish(setup.result != nullptr && *setup.result != nullptr, bytes);
            recorded.items = recorder.take_items();
        } else if (capture.segments_ != nullptr) {
            recorded.parts = capture.end_segments({"finish"});
        } else {
            recorded.graph = std::move(capture).finish();
        }
        return recorded;
    } catch (const CaptureError& cause) {
        RecordedFunction lost = failure(cause);
        lost.recorded_nothing = capture.state_->recorded_nothing();
        return lost;
    }
}

CaptureAttempt::CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup, const AttemptedFunction& function) {
    RecordedFunction recorded = record(stream, setup, function);
    made = std::move(recorded.made);
    failed = std::move(recorded.failed);
    if (recorded.error) {
        error = std::move(recorded.error);
        recorded_nothing_ = recorded.recorded_nothing;
        return;
    }
    try {
        if (recorded.parts && setup.is_cached) {
            walked = std::make_shared<WalkedSteps>(*std::move(recorded.parts), std::move(recorded.items), setup);
            for (const Graph& graph : walked->graphs)
                bytes += estimated_bytes(graph);
            return;
        }
        if (recorded.parts) {
            segments = SegmentedGraph(
                std::make_shared<SegmentedState>(*std::move(recorded.parts), SegmentOptions{setup.instantiate}));
            return;
        }
        buffers = find_buffers(*recorded.graph, setup.buffers);
        exec = recorded.graph->instantiate(setup.instantiate);
        bytes = estimated_bytes(*recorded.graph, *exec);
        for (const auto& buffer : buffers)
            if (buffer) exec->bind(*buffer, buffer->span()); // changes nothing: tests the binding
    } catch (const CaptureError& cause) {
        error = cause;
    } catch (const InstantiateError& cause) {
        error = cause;
    } catch (const UpdateError& cause) {
        exec.reset();
        error = cause;
    }
}

RunBuffers CaptureAttempt::find_buffers(const Graph& graph, std::span<const DeviceSpan<std::byte>> given) {
    RunBuffers buffers;
    if (given.empty()) return buffers;
    const std::vector<Node> nodes = graph.nodes();
    if (nodes.empty()) {
        buffers.resize(given.size());
        return buffers;
    }
    for (const DeviceSpan<std::byte>& memory : given) {
        buffers.emplace_back();
        if (memory.empty()) continue;
        BufferParam param(memory, {.in_objects = true});
        const MemoryUses found = uses_of(GraphIdentity::of(nodes.front()), Access::memory(param));
        if (!found.obstacles.empty()) {
            const ObstacleAt& obstacle = found.obstacles.front();
            refuse<UpdateError>(fmt::format("replays cannot exchange buffer {} of the run: {}", buffers.size() - 1,
                                            describe_obstacle(obstacle, Access::memory(param))),
                                obstacle.place.subject({}));
        }
        if (!found.uses.empty()) buffers.back() = std::move(param);
    }
    const auto overlap = [](const auto& a, const auto& b) {
        const std::less<> before;
        return a && b && before(a->data(), b->data() + b->size()) && before(b->data(), a->data() + a->size());
    };
    for (std::size_t i = 0; i < buffers.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (overlap(buffers[i], buffers[j]))
                refuse<UpdateError>(fmt::format("buffers {} and {} of the run overlap, so that replays could not tell "
                                                "which is which",
                                                j, i));
    return buffers;
}

} // namespace cudag::detail
