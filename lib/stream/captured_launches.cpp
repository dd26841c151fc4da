// Memory accesses of kernels launched into captures, by capture.
#include "captured_launches.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "node/kernel.hpp"
#include "owners/capture_lists.hpp"

#include <atomic>
#include <cstddef>

namespace cudag::detail {

namespace {

std::atomic<std::size_t> captures = 0;

/// Never destroyed: threads may capture at the end of the process.
CaptureLists<CapturedLaunch>& launches_of_captures() {
    static auto* all = new CaptureLists<CapturedLaunch>;
    return *all;
}

} // namespace

CapturedLaunches::CapturedLaunches(unsigned long long capture) : capture_(capture) {
    launches_of_captures().begin(capture);
    captures.fetch_add(1, std::memory_order_relaxed);
}

CapturedLaunches::~CapturedLaunches() {
    launches_of_captures().end(capture_);
    captures.fetch_sub(1, std::memory_order_relaxed);
}

std::vector<CapturedLaunch> CapturedLaunches::take() {
    std::vector<CapturedLaunch> taken;
    launches_of_captures().with(capture_, [&](auto& launches) { taken.swap(launches); });
    return taken;
}

void CapturedLaunches::note(cudaStream_t stream, const KernelSignature& signature, CallEffects&& effects, bool waits) {
    const bool is_captured = captures.load(std::memory_order_relaxed) != 0;
    if (!is_captured || (effects.accesses.empty() && !waits)) [[likely]] // for raw pointers CUDA's node suffices
        return;
    cudaStreamCaptureStatus status{};
    unsigned long long capture = 0;
    const cudaGraphNode_t* front = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    const cudaError_t asked = compat::stream_get_capture_front(stream, &status, &front, &data, &count, &capture);
    ignore(asked); // the launch has succeeded: unrecorded, it is not tracked
    if (asked != cudaSuccess || status != cudaStreamCaptureStatusActive || count != 1) return;
    launches_of_captures().with(capture, [&](auto& launches) {
        launches.push_back({front[0],
                            is_typed(signature) ? &signature : nullptr,
                            {effects.accesses.begin(), effects.accesses.end()},
                            waits});
    });
}

} // namespace cudag::detail
