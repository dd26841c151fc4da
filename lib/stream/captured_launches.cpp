// Memory accesses of kernels launched into captures, by capture.
#include "captured_launches.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "node/kernel.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

std::atomic<std::size_t> captures = 0;

struct Collected {
    std::mutex mutex;
    std::unordered_map<unsigned long long, std::vector<CapturedLaunch>> by_capture;
};

Collected& collected() {
    static Collected all;
    return all;
}

} // namespace

CapturedLaunches::CapturedLaunches(unsigned long long capture) : capture_(capture) {
    const std::scoped_lock lock(collected().mutex);
    collected().by_capture[capture];
    captures.fetch_add(1, std::memory_order_relaxed);
}

CapturedLaunches::~CapturedLaunches() {
    const std::scoped_lock lock(collected().mutex);
    collected().by_capture.erase(capture_);
    captures.fetch_sub(1, std::memory_order_relaxed);
}

std::vector<CapturedLaunch> CapturedLaunches::take() {
    const std::scoped_lock lock(collected().mutex);
    return std::exchange(collected().by_capture[capture_], {});
}

void CapturedLaunches::note(cudaStream_t stream, const KernelSignature& signature, CallEffects&& effects) {
    const bool is_captured = captures.load(std::memory_order_relaxed) != 0;
    if (!is_captured || effects.accesses.empty()) [[likely]] // for raw pointers CUDA's node suffices
        return;
    cudaStreamCaptureStatus status{};
    unsigned long long capture = 0;
    const cudaGraphNode_t* front = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    const cudaError_t asked = compat::stream_get_capture_front(stream, &status, &front, &data, &count, &capture);
    ignore(asked); // the launch has succeeded: unrecorded, it is not tracked
    if (asked != cudaSuccess || status != cudaStreamCaptureStatusActive || count != 1) return;
    const std::scoped_lock lock(collected().mutex);
    const auto launches = collected().by_capture.find(capture);
    if (launches == collected().by_capture.end()) return;
    launches->second.push_back(
        {front[0], is_typed(signature) ? &signature : nullptr, {effects.accesses.begin(), effects.accesses.end()}});
}

} // namespace cudag::detail
