// Exec::apply: updates of the nodes changed in the exec's graph, one by one, all or none.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "changed_nodes.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "exec_nodes.hpp"
#include "graph/names.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cudag {

std::size_t Exec::apply(const Graph& graph) {
    detail::ExecState& exec = state();
    const detail::GraphState& source = detail::Access::state(graph);
    if (!exec.is_of(source))
        detail::refuse<UpdateError>(
            fmt::format("apply: the graph is not the one that this Exec was made from: that is {}, and this {}; "
                        "update(graph) takes another one",
                        detail::describe_graph(exec.made_from()), detail::describe_graph(source)));
    const auto lock = source.lock();
    if (exec.seen() == source.changes().version()) return 0;

    std::size_t count = 0;
    source.changes().for_each_since(exec.seen(), [&](const detail::UpdatedNode&) { ++count; });
    detail::ChangedNodes changed(exec, count, "apply: ");
    source.changes().for_each_since(exec.seen(), [&](const detail::UpdatedNode& node) {
        detail::OwnerVersions owners;
        if (!node.owners.empty()) owners = detail::version_of(detail::Owners(node.owners));
        changed.add(exec.node_of(node.graph->identity().handle(node.index)), node.params, std::move(owners),
                    std::vector(node.accesses));
    });
    changed.require_no_race();
    detail::bind_context();
    if (std::optional<detail::ChangedNodes::Refusal> refusal = changed.push())
        raise_update(refusal->result, refusal->params, std::move(refusal->subject));
    changed.commit();
    exec.set_seen(source.changes().version());
    return count;
}

} // namespace cudag
