// Execs launched, uploaded and destroyed.
#include "exec_order.hpp"
#include "exec_run.hpp"

#include <utility>

namespace cudart_cpu::detail {

namespace {

/// "2: kernel scale" for each node of the order.
std::vector<std::string> names(const std::vector<NodeState>& states, const std::vector<std::uint32_t>& order) {
    std::vector<std::string> result;
    result.reserve(order.size());
    for (const std::uint32_t node : order)
        result.push_back(text(node, ": ", states[node].work->title()));
    return result;
}

/// One launch of a snapshot.
struct Launch {
    std::shared_ptr<const ExecSnapshot> snapshot;
    Draw draw;
    std::vector<WorkPointer> staged; // of the nodes that the snapshot says are staged
};

Launch prepare(std::shared_ptr<const ExecSnapshot> snapshot) {
    Launch launch{std::move(snapshot), next_draw(), {}};
    for (const std::uint32_t node : launch.snapshot->staged)
        launch.staged.push_back((*launch.snapshot->states)[node].work->staged());
    return launch;
}

void run(const Launch& launch) {
    const ExecSnapshot& snapshot = *launch.snapshot;
    std::vector<WorkPointer> works;
    works.reserve(snapshot.states->size());
    for (const NodeState& state : *snapshot.states)
        works.push_back(state.enabled ? state.work : nullptr);
    for (std::size_t i = 0; i < launch.staged.size(); ++i)
        works[snapshot.staged[i]] = launch.staged[i];
    std::vector<std::uint32_t> order = draw_order(*snapshot.shape, launch.draw);
    run_nodes(*snapshot.shape, works, order, schedule_workers());
    note_order([states = snapshot.states, order = std::move(order)] { return names(*states, order); });
}

void enqueue_after_latest(Exec& exec, Stream& stream, std::function<void()> op) {
    std::vector<CompletionPtr> after;
    if (exec.latest) after.push_back(exec.latest);
    exec.latest = enqueue(stream, std::move(op), std::move(after));
}

} // namespace

void enqueue_launch(Exec& exec, Stream& stream) {
    enqueue_after_latest(exec, stream, [launch = prepare(exec.snapshot())] { run(launch); });
}

void enqueue_upload(Exec& exec, Stream& stream) {
    enqueue_after_latest(exec, stream, [] {});
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return graph_api("cudaGraphUpload", [&] { enqueue_upload(exec_of(graphExec), stream_of(stream)); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return graph_api("cudaGraphLaunch", [&] { enqueue_launch(exec_of(graphExec), stream_of(stream)); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    return graph_api("cudaGraphExecDestroy", [&] { destroy_exec(graphExec); });
}
