// Attempts to capture functions: their failures, apart from the functions' own.
#include "capture_attempt.hpp"

#include "capture_state.hpp"
#include "cuda/failure.hpp"
#include "exec/exec_bytes.hpp"
#include "graph/graph_identity.hpp"
#include "graph/native_graph.hpp"
#include "handles/buffer_uses.hpp"

#include <cudag/stream_capture.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

namespace {

/// The number of nodes, by CUDA's count: their records may not have been read. 0 if CUDA fails.
std::size_t count_native_nodes(cudaGraph_t graph) noexcept {
    std::size_t count = 0;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) static_cast<void>(cudaGetLastError());
    return count;
}

} // namespace

RecordedFunction CaptureAttempt::record(cudaStream_t stream, const AttemptSetup& setup,
                                        const AttemptedFunction& function) {
    const CaptureOptions options{
        .mode = setup.mode, .allow_empty = setup.allow_empty, .refuse_legacy_stream = setup.refuse_legacy_stream};
    std::unique_ptr<CaptureState> begun;
    try {
        begun = std::make_unique<CaptureState>(stream, options, setup.location);
    } catch (const CaptureError& cause) {
        return {{}, cause};
    }
    if (!setup.refuse_legacy_stream) begun->allow_legacy_stream();
    const CaptureState& state = *begun;
    StreamCapture capture(Passkey(), std::move(begun));
    try { // any exception after the break of a capture counts as the break: its end reports the cause
        Steps steps(Passkey(), capture);
        if (const std::shared_ptr<const void> kept = function(steps)) capture.retain(kept);
    } catch (const CaptureError& cause) {
        return {{}, cause};
    } catch (...) {
        if (capture.status() == CaptureStatus::active) throw;
    }
    try {
        return {std::move(capture).finish(), {}};
    } catch (const CaptureError& cause) {
        return {{}, cause, state.recorded_nothing()};
    }
}

CaptureAttempt::CaptureAttempt(cudaStream_t stream, const AttemptSetup& setup, const AttemptedFunction& function) {
    RecordedFunction recorded = record(stream, setup, function);
    if (!recorded.graph) {
        error = std::move(recorded.error);
        recorded_nothing_ = recorded.recorded_nothing;
        return;
    }
    try {
        find_buffers(*recorded.graph, setup.buffers);
        exec = recorded.graph->instantiate(setup.instantiate);
        bytes = estimated_exec_bytes(count_native_nodes(native_of(Access::state(*recorded.graph))));
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

void CaptureAttempt::find_buffers(const Graph& graph, std::span<const DeviceSpan<std::byte>> given) {
    if (given.empty()) return;
    const std::vector<Node> nodes = graph.nodes();
    if (nodes.empty()) return buffers.resize(given.size());
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
}

} // namespace cudag::detail
