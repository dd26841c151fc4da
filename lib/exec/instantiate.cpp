// Graph::instantiate, with CUDA's reason and node in its errors.
#include <cudag/graph.hpp>

#include "cuda/checks.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/observing.hpp"
#include "cuda/relaxed_capture.hpp"
#include "cuda/tool_range.hpp"
#include "exec_copy.hpp"
#include "exec_state.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "owners/reclaim.hpp"
#include "recorder/marks.hpp"
#include "recorder/recorder.hpp"
#include "watched_writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cudag {

namespace {

const char* reason_of(CUgraphInstantiateResult result) {
    switch (result) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
        return "the structure of the graph is invalid, such as by a cycle";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        return "a device-launched graph does not support this node";
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
        return "a device-launched graph runs on one device only";
    default:
        return "";
    }
}

[[noreturn]] void raise_instantiate(CUresult status, const detail::GraphState& graph,
                                    const CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
    detail::Subject subject{"instantiate"};
    if (params.hErrNode_out != nullptr) subject.text += ": " + describe_native(graph, params.hErrNode_out);
    if (const detail::NodePlace node = find_native(graph, params.hErrNode_out)) {
        subject.labels.emplace_back(node.graph->records().nodes()[node.index].label);
        subject.where = node.graph->records().nodes()[node.index].location;
    }
    if (const char* reason = reason_of(params.result_out); *reason != '\0') subject.text += fmt::format(": {}", reason);
    detail::raise_call<InstantiateError>(detail::to_runtime(status), "cuGraphInstantiateWithParams", std::move(subject),
                                         detail::Api::driver);
}

/// Whether `graph` has the only exec that CUDA allows it, and another one needs a copy. Throws InstantiateError if a
/// copy would not do: users know the addresses of graph memory.
bool needs_copy(const detail::GraphState& graph) {
    if (!graph.execs().any()) return false;
    const auto refuse_for = [](const detail::NodePlace& node, const char* remedy) {
        detail::refuse<InstantiateError>(std::string("CUDA allows one Exec at a time of a graph with such a node, and "
                                                     "one is alive; ") +
                                             remedy,
                                         node_subject(*node.graph, node.index, "instantiate: "), cudaErrorNotSupported);
    };
    if (const detail::NodePlace node = find_memory_node(graph))
        refuse_for(node, "another Exec would have its memory at other addresses: instantiate a clone(), whose "
                         "counterpart() has them, or destroy the first");
    if (const detail::NodePlace node = find_device_updatable(graph)) refuse_for(node, "destroy it first");
    return static_cast<bool>(find_unlike(graph, &detail::KindRules::can_have_execs));
}

void check_durations(const detail::GraphState& graph, const std::vector<double>& durations) {
    const std::size_t nodes = graph.records().nodes().size();
    if (durations.size() != nodes)
        detail::refuse<InstantiateError>(fmt::format(
            "instantiate: the plan has {} durations for {} nodes; give one for each node of the Graph, or none",
            durations.size(), nodes));
    const auto is_wrong = [](double duration) { return !(duration >= 0) || std::isinf(duration); };
    if (const auto wrong = std::find_if(durations.begin(), durations.end(), is_wrong); wrong != durations.end())
        detail::refuse<InstantiateError>(
            fmt::format("the plan's duration of {} microseconds is none; it must be a number, and not negative",
                        *wrong),
            node_subject(graph, static_cast<std::uint32_t>(wrong - durations.begin()), "instantiate: "));
}

/// Whether the exec is recorded. Throws InstantiateError if it was asked for, and is impossible.
bool wants_recorder(const detail::GraphState& graph, const InstantiateOptions& options) {
    if (!options.recorder && !detail::is_check_on("recorder")) return false;
    detail::NodePlace culprit;
    const std::string reason = unrecordable(graph, options.device_launch, culprit);
    if (reason.empty()) return true;
    if (!options.recorder) return false; // the environment asks for whatever is possible
    detail::refuse<InstantiateError>(
        reason, culprit ? culprit.subject("instantiate with recorder: ") : detail::Subject{"instantiate with recorder"},
        cudaErrorNotSupported);
}

Exec make_exec(const std::shared_ptr<detail::GraphState>& shared, InstantiateOptions options);

/// Makes an exec of a copy of `graph`, which takes the handles of `graph`.
Exec make_exec_of_copy(const std::shared_ptr<detail::GraphState>& graph, const InstantiateOptions& options) {
    Exec exec = make_exec(copy_for_exec(*graph), options);
    detail::Access::state(exec).take_handles_of(graph);
    return exec;
}

Exec make_exec(const std::shared_ptr<detail::GraphState>& shared, InstantiateOptions options) {
    detail::GraphState& graph = *shared;
    if (options.auto_free_on_launch && options.device_launch)
        detail::refuse<InstantiateError>(
            "instantiate: auto_free_on_launch and device_launch exclude each other; choose one");
    require_root(graph, "instantiate");
    const detail::NoWaiting no_waiting;
    const auto lock = graph.lock();
    // An unread graph has no records to check yet: CUDA may refuse it first.
    if (graph.records().is_read() && needs_copy(graph)) return make_exec_of_copy(shared, options);
    if (options.device_launch) require_device_launchable(graph);
    if (!options.plan.durations.empty()) check_durations(graph, options.plan.durations);
    options.recorder = wants_recorder(graph, options);
    if (options.recorder) read_all(graph);
    graph.complete_native(&options.plan);

    std::shared_ptr<detail::HostLaunches> launches;
    std::vector<detail::HostNodeRun> hosts;
    if (has_host_tasks(graph)) {
        launches = std::make_shared<detail::HostLaunches>(std::make_shared<detail::HostClaim>());
        hosts = make_host_runs(launches, graph, graph);
    }
    detail::Owners owners;
    list_owners(graph, owners);
    for (const detail::HostNodeRun& host : hosts)
        owners.push_back({0, 0, host.run});
    std::shared_ptr<detail::Recorder> recorder;
    std::optional<detail::Marks> marks;
    if (options.recorder) {
        const detail::RelaxedCapture allow_allocation;
        graph.number_nodes();
        recorder = detail::Recorder::make(graph);
        owners.push_back({0, 0, recorder});
        marks.emplace(graph, graph, *recorder);
    }
    const detail::WithoutUserObjects plain(graph);
    const detail::KeptForExecs kept(graph.native(), options.device_launch ? owners : detail::Owners(),
                                    detail::KeptForExecs::Call::instantiate);
    if (options.device_launch) owners.clear(); // only CUDA sees launches by kernels, so it keeps the owners

    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    if (options.auto_free_on_launch) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (options.device_launch) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (options.use_node_priority) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    if (options.upload_stream) {
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        params.hUploadStream = options.upload_stream->get();
    }
    cudaGraphExec_t native = nullptr;
    detail::bind_context();
    const CUresult status = detail::driver().graph_instantiate_with_params(&native, graph.native(), &params);
    if (status != CUDA_SUCCESS) {
        if (needs_copy(graph)) return make_exec_of_copy(shared, options);
        raise_instantiate(status, graph, params);
    }
    detail::UniqueExec owner(native);
    auto state = std::make_unique<detail::ExecState>(native, shared, options, std::move(launches), hosts,
                                                     detail::version_of(std::move(owners)));
    static_cast<void>(owner.release());
    if (recorder) recorder->set_exec(native);
    if (graph.records().has_known_nodes()) declare_waits(*state);
    return detail::Access::exec_of(std::move(state));
}

std::string changes_by(const PlanReport& plan) {
    if (plan.joins().empty() && plan.kernels() == 0 && plan.lanes() == 0 && plan.early_edges() == 0 &&
        plan.edges_before() == plan.edges_after())
        return "edges as written";
    return fmt::format("{} edges became {}; {} joins, {} empty kernels, {} lanes, {} early edges", plan.edges_before(),
                       plan.edges_after(), plan.joins().size(), plan.kernels(), plan.lanes(), plan.early_edges());
}

} // namespace

Exec Graph::instantiate(InstantiateOptions options) const {
    static_cast<void>(state());
    [[maybe_unused]] const detail::ToolRange range([&] { return "instantiate " + describe_graph(*state_); });
    if (!detail::is_observed()) return make_exec(state_, options);
    try {
        const detail::CallTime time;
        Exec exec = make_exec(state_, options);
        const double milliseconds = time.milliseconds();
        detail::observe([&] {
            const PlanReport plan = exec.plan();
            return ObservedInstantiation{
                *this, exec, describe_graph(*state_), milliseconds, node_count(), plan.edges_after(), changes_by(plan)};
        });
        return exec;
    } catch (const Error& error) {
        detail::observe([&] { return ObservedRefusal{"instantiate", describe_graph(*state_), error.what()}; });
        throw;
    }
}

} // namespace cudag
