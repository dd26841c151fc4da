// Execs launched, uploaded and destroyed.
#include "exec_conditional.hpp"
#include "exec_order.hpp"
#include "exec_run.hpp"
#include "launch_context.hpp"

#include <atomic>
#include <utility>

namespace cudart_cpu::detail {

namespace {

std::vector<std::string> names(const LaunchGraph& graph, const std::vector<std::uint32_t>& order) {
    std::vector<std::string> result;
    result.reserve(order.size());
    for (const std::uint32_t node : order)
        if (std::string name = name_of(graph, node); !name.empty()) result.push_back(std::move(name));
    return result;
}

/// One launch of a snapshot.
struct Launch {
    std::shared_ptr<const ExecSnapshot> snapshot;
    const void* exec;
    bool is_uploaded;
    Draw draw;
    std::vector<WorkPointer> staged; // of the nodes that the graph says are staged
};

Launch prepare(Exec& exec) {
    Launch launch{exec.snapshot(), &exec, exec.is_uploaded(), next_draw(), {}};
    const LaunchGraph& graph = *launch.snapshot->graph;
    for (const std::uint32_t node : graph.staged)
        launch.staged.push_back(graph.nodes[node].work->staged());
    return launch;
}

/// Draws an order for each body that is run, each time.
class BodyDraws {
  public:
    explicit BodyDraws(Draw draw) : draw_(draw) {}

    Draw next() noexcept {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        return {draw_.seed + odd * ++bodies_, draw_.launch};
    }

  private:
    Draw draw_;
    std::atomic<std::uint64_t> bodies_{0};
};

std::vector<std::uint32_t> run_graph(const LaunchGraph& graph, Draw draw, const std::vector<WorkPointer>& staged,
                                     const RunBody& run_body) {
    std::vector<WorkPointer> works;
    works.reserve(graph.nodes.size());
    for (const LaunchNode& node : graph.nodes) {
        const bool decides = node.enabled && !node.bodies.empty();
        works.push_back(decides ? conditional_run(node, run_body) : node.enabled ? node.work : nullptr);
    }
    for (std::size_t i = 0; i < staged.size(); ++i)
        works[graph.staged[i]] = staged[i];
    std::vector<std::uint32_t> order = draw_order(graph.shape, draw);
    run_nodes(graph.shape, works, order, schedule_workers());
    return order;
}

void run(const Launch& launch) {
    const ExecSnapshot& snapshot = *launch.snapshot;
    snapshot.condition_values->begin_launch(snapshot.conditions);
    LaunchContext context{*snapshot.condition_values, launch.exec, launch.is_uploaded};
    const LaunchScope scope(&context);
    BodyDraws draws(launch.draw);
    RunBody run_body = [&](const std::shared_ptr<const LaunchGraph>& body) {
        run_graph(*body, draws.next(), {}, run_body);
    };
    std::vector<std::uint32_t> order = run_graph(*snapshot.graph, launch.draw, launch.staged, run_body);
    note_order([graph = snapshot.graph, order = std::move(order)] { return names(*graph, order); });
}

void enqueue_after_latest(Exec& exec, Stream& stream, std::function<void()> op) {
    std::vector<CompletionPtr> after;
    if (exec.latest) after.push_back(exec.latest);
    exec.latest = enqueue(stream, std::move(op), std::move(after));
}

} // namespace

void enqueue_launch(Exec& exec, Stream& stream) {
    Launch launch = prepare(exec);
    const bool frees = (exec.flags() & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    const auto snapshot = launch.snapshot;
    claim(snapshot->memory, frees ? Unfreed::free : Unfreed::refuse);
    enqueue_after_latest(exec, stream, [launch = std::move(launch)] { run(launch); });
    use_graph_memory(snapshot->memory.all, exec.latest);
}

void enqueue_upload(Exec& exec, Stream& stream) {
    enqueue_after_latest(exec, stream, [] {});
    exec.set_uploaded();
    use_graph_memory(exec.snapshot()->memory.all, exec.latest);
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
