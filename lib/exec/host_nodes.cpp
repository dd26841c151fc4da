// Construction of the runs of an exec's host nodes.
#include "host_nodes.hpp"

#include "compare/diff.hpp"
#include "graph/construction.hpp"
#include "graph/graph_records.hpp"
#include "graph/names.hpp"
#include "graph/node_record.hpp"

namespace cudag::detail {

std::shared_ptr<HostRun> make_host_run(const std::shared_ptr<HostLaunches>& launches, const GraphState& graph,
                                       std::uint32_t index, const HostParams& task) {
    const NodeRecord& record = records_of(graph).nodes()[index];
    return std::shared_ptr<HostRun>(new HostRun{launches, static_cast<const HostTask*>(task.userData),
                                                describe_node(graph, index), std::string(record.label), record.location,
                                                task.sync_mode, launches->count()});
}

std::vector<HostNodeRun> make_host_runs(const std::shared_ptr<HostLaunches>& launches, const GraphState& mine,
                                        const GraphState& next) {
    std::vector<HostNodeRun> runs;
    for_each_graph_pair(mine, next, [&](const GraphState& graph, const GraphState& described) {
        const std::size_t count = std::min(records_of(graph).nodes().size(), records_of(described).nodes().size());
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto* const* task = std::get_if<const HostParams*>(&records_of(described).params(i));
            if (task != nullptr && is_host_task(**task) && records_of(graph).nodes()[i].kind == NodeKind::host)
                runs.push_back({records_of(graph).natives()[i], make_host_run(launches, described, i, **task)});
        }
    });
    return runs;
}

Owners owners_of(const std::vector<HostNodeRun>& runs) {
    Owners owners;
    owners.reserve(runs.size());
    for (const HostNodeRun& one : runs)
        keep(owners, 0, one.run);
    return owners;
}

NativeResult set_host_run(cudaGraphExec_t exec, cudaGraphNode_t node, HostRun& run) {
    return set_native({node, exec}, run.params());
}

} // namespace cudag::detail
