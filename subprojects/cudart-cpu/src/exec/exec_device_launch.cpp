// Graphs launched by kernels.
#include "exec_device_launch.hpp"

#include "exec_flat.hpp"
#include "runtime/log.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

// CUDA's names, cudaStreamGraphTailLaunch and so on, are in cuda_device_runtime_api.h, visible to nvcc alone.
constexpr std::uintptr_t tail_stream = 0x0100000000000000;
constexpr std::uintptr_t forget_stream = 0x0200000000000000;
constexpr std::uintptr_t sibling_stream = 0x0300000000000000;

constexpr std::size_t max_forgotten = 120;
constexpr std::size_t max_tail = 255;

void add_launch(DeviceLaunches& launches, const Launch& running, Exec& exec, cudaStream_t stream) {
    const auto number = reinterpret_cast<std::uintptr_t>(stream);
    const bool is_tail = number == tail_stream;
    if (!is_tail && number != forget_stream && number != sibling_stream)
        fail(cudaErrorInvalidValue, text("stream ", stream, " is none into which kernels launch graphs"));
    if ((exec.flags() & cudaGraphInstantiateFlagDeviceLaunch) == 0)
        fail(cudaErrorInvalidValue, "the executable graph was not instantiated for launch from the device");
    if (!exec.is_uploaded()) fail(cudaErrorInvalidValue, "a graph must be uploaded before a kernel launches it");
    if (!is_tail && exec.handle == running.exec)
        fail(cudaErrorInvalidValue, "a graph can launch itself only as its own tail");
    const std::lock_guard lock(launches.mutex);
    const auto is_this = [&](const auto& launch) { return launch->exec == exec.handle; };
    if (std::ranges::any_of(launches.forgotten, is_this) || std::ranges::any_of(launches.tail, is_this))
        fail(cudaErrorInvalidValue, "the graph has been launched already, and has not run yet");
    auto& list = is_tail ? launches.tail : launches.forgotten;
    if (list.size() == (is_tail ? max_tail : max_forgotten))
        fail(cudaErrorInvalidValue, text("a graph cannot launch more than ", list.size(), " others"));
    list.push_back(std::make_shared<Launch>(prepare_launch(exec)));
}

} // namespace

Launch prepare_launch(Exec& exec) {
    Launch launch{exec.snapshot(), exec.handle, &exec, exec.flags(), exec.is_uploaded(), next_draw()};
    const LaunchGraph& graph = *launch.snapshot->graph;
    for (const std::uint32_t node : graph.staged)
        launch.staged.push_back(graph.nodes[node].work->staged());
    if (!graph.holding.empty()) launch.pageable = std::make_shared<PageableCopies>(graph);
    return launch;
}

cudaError_t launch_from_kernel(cudaGraphExec_t exec, cudaStream_t stream) {
    try {
        LaunchContext* const context = current_launch();
        if (!context)
            fail(cudaErrorNotSupported, "Kernels which call cudaGraphLaunch cannot be launched directly into streams");
        const std::lock_guard lock(graph_mutex());
        add_launch(context->device_launches, context->launch, exec_of(exec), stream);
        return cudaSuccess;
    } catch (const Failure& failure) {
        log_error(failure.text);
        return failure.code;
    }
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

// Called by kernels.
CUDART_CPU_API cudaGraphExec_t CUDARTAPI cudaGetCurrentGraphExec() {
    const LaunchContext* const context = current_launch();
    const bool is_device_graph = context && (context->launch.flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
    return is_device_graph ? context->launch.exec : nullptr;
}
