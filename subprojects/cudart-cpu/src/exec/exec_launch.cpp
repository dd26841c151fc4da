// Launches, uploads and the destruction of execs.
#include "exec_launch.hpp"
#include "capture/capture_rules.hpp"
#include "exec_conditional.hpp"
#include "exec_device_launch.hpp"
#include "exec_order.hpp"
#include "exec_run.hpp"
#include "exec_watch.hpp"
#include "kernel/kernel_registry.hpp"
#include "runtime/fault.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace cudart_cpu::detail {

namespace {

std::vector<std::string> names_of(const LaunchGraph& graph, const std::vector<std::uint32_t>& order) {
    std::vector<std::string> result;
    result.reserve(order.size());
    for (const std::uint32_t node : order)
        if (std::string name = name_of(graph, node); !name.empty()) result.push_back(std::move(name));
    return result;
}

/// A work that may fail instead of running: see fail_node.
class FailingWork final : public Work {
  public:
    explicit FailingWork(WorkPointer work) : work_(std::move(work)) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }
    void run() const override {
        if (!fails_now(title())) work_->run();
    }

  private:
    WorkPointer work_;
};

WorkPointer failing(WorkPointer work) {
    return std::make_shared<FailingWork>(std::move(work));
}

/// Draws a new order for each run of a body.
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

/// The parts of a launch prepared when it is called. Empty for a body.
struct Prepared {
    std::vector<WorkPointer> staged{};
    std::shared_ptr<PageableCopies> pageable{};
};

std::vector<std::uint32_t> run_graph(const LaunchGraph& graph, Draw draw, const Prepared& prepared,
                                     const RunBody& run_body, const std::shared_ptr<const DeclaredNodes>& declared,
                                     const LaunchTimes& times) {
    std::vector<WorkPointer> works;
    works.reserve(graph.nodes.size());
    for (const LaunchNode& node : graph.nodes) {
        const bool decides = node.enabled && !node.bodies.empty();
        works.push_back(decides ? conditional_run(node, run_body) : node.enabled ? node.work : nullptr);
    }
    for (std::size_t i = 0; i < prepared.staged.size(); ++i)
        works[graph.staged[i]] = prepared.staged[i];
    if (prepared.pageable) PageableCopies::put(prepared.pageable, graph, works);
    for (std::size_t i = 0; i < works.size(); ++i)
        if (graph.nodes[i].waits && works[i]) works[i] = checked_for_wait(works[i], graph.nodes[i].waits);
    const bool watches = declared != nullptr && watches_writes();
    for (std::size_t i = 0; watches && i < works.size(); ++i)
        if (graph.nodes[i].declared && works[i] && graph.nodes[i].bodies.empty()) // bodies' nodes have their own checks
            works[i] = watched(works[i], graph.nodes[i].declared, declared);
    for (std::size_t i = 0; i < works.size(); ++i)
        if (works[i] && is_node_to_fail(graph.nodes[i].source)) works[i] = failing(works[i]);
    for (std::size_t i = 0; times.times && i < works.size(); ++i)
        if (works[i]) works[i] = timed(works[i], graph.nodes[i].source, times);
    std::vector<std::uint32_t> order = draw_order(graph.shape, draw);
    run_nodes(graph.shape, works, order, watches ? 1 : schedule_workers());
    return order;
}

using Launches = std::vector<std::shared_ptr<const Launch>>;

/// Runs one launch. Returns the launches made by its kernels, in the order in which they run.
Launches run_alone(const Launch& launch) {
    const ExecSnapshot& snapshot = *launch.snapshot;
    snapshot.condition_values->begin_launch(snapshot.conditions);
    LaunchContext context{*snapshot.condition_values, launch, launch.address, launch.is_uploaded,
                          removals_at_submission()};
    const LaunchScope scope(&context);
    BodyDraws draws(launch.draw);
    RunBody run_body = [&](const std::shared_ptr<const LaunchGraph>& body) {
        run_graph(*body, draws.next(), {}, run_body, snapshot.declared, launch.times);
    };
    std::vector<std::uint32_t> order = run_graph(*snapshot.graph, launch.draw, {launch.staged, launch.pageable},
                                                 run_body, snapshot.declared, launch.times);
    note_order([graph = snapshot.graph, order = std::move(order)] { return names_of(*graph, order); });
    Launches next = std::move(context.device_launches.forgotten);
    next.insert(next.end(), context.device_launches.tail.begin(), context.device_launches.tail.end());
    return next;
}

/// Runs a launch and the launches made by its kernels. A graph's launches run before earlier ones of its parents, so
/// its tail launches wait for all its fire-and-forget launches.
void run(const Launch& launch) {
    Launches stack = run_alone(launch);
    std::ranges::reverse(stack);
    while (!stack.empty()) {
        const std::shared_ptr<const Launch> top = std::move(stack.back());
        stack.pop_back();
        const Launches next = run_alone(*top);
        stack.insert(stack.end(), next.rbegin(), next.rend());
    }
}

void enqueue_after_latest(Exec& exec, Stream& stream, std::function<void()> op) {
    std::vector<CompletionPtr> after;
    if (exec.latest) after.push_back(exec.latest);
    exec.latest = enqueue(stream, std::move(op), std::move(after));
}

/// A refused launch keeps its graph memory in use until one succeeds, as the driver's does (580, on an H100).
Launch prepare_or_keep_memory(Exec& exec) {
    try {
        return prepare_launch(exec);
    } catch (const Failure&) {
        use_graph_memory(exec.snapshot()->memory.all, std::make_shared<Completion>());
        throw;
    }
}

/// Returns the completion for which the call must wait; null if there is none.
CompletionPtr enqueue_launch(Exec& exec, Stream& stream) {
    Launch prepared = prepare_or_keep_memory(exec);
    if (exec.times) prepared.times = {exec.times, exec.times->next_launch()};
    auto launch = std::make_shared<const Launch>(std::move(prepared));
    const bool frees = (exec.flags() & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    const auto snapshot = launch->snapshot;
    claim(snapshot->memory, frees ? Unfreed::free : Unfreed::refuse);
    CompletionPtr awaited = launch->pageable ? launch->pageable->done() : nullptr;
    enqueue_after_latest(exec, stream, [launch = std::move(launch)] { run(*launch); });
    use_graph_memory(snapshot->memory.all, exec.latest);
    exec.set_uploaded();
    return awaited;
}

} // namespace

void launch_exec(cudaGraphExec_t exec, cudaStream_t stream) {
    const CompletionPtr awaited = under_graph_lock([&] {
        Stream& target = stream_of(stream);
        refuse_capturing(target);
        return enqueue_launch(exec_of(exec), target);
    });
    if (awaited) awaited->wait();
}

void enqueue_upload(Exec& exec, Stream& stream) {
    enqueue_after_latest(exec, stream, [] {});
    exec.set_uploaded();
    use_graph_memory(exec.snapshot()->memory.all, exec.latest);
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return graph_api("cudaGraphUpload", [&] {
        Stream& target = stream_of(stream);
        refuse_capturing(target);
        enqueue_upload(exec_of(graphExec), target);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    if (is_in_kernel()) return launch_from_kernel(graphExec, stream);
    return api("cudaGraphLaunch", [&] { launch_exec(graphExec, stream); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    return graph_api("cudaGraphExecDestroy", [&] {
        refuse_unsafe_call_under_lock();
        destroy_exec(graphExec);
    });
}
