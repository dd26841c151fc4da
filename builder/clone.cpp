// Graph::clone: by CUDA, or by writing the nodes again.
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "graph/clone_natives.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_state.hpp"
#include "graph_writer.hpp"
#include "lists/spare_block.hpp"

#include <memory>

namespace cudag {

using detail::GraphState;

Graph Graph::clone() const {
    GraphState& graph = state();
    require_root(graph, "clone");
    read_all(graph);
    const auto lock = graph.lock();
    if (find_unlike(graph, &detail::KindRules::can_be_cloned))
        return Graph(written_clone(graph, "clone", graph.construction().made_at));
    if (const detail::NodePlace node = find_device_updatable(graph))
        detail::refuse("kernels of a clone would change this node instead of their own; write the graph again",
                       node.subject("clone: "), cudaErrorNotSupported);
    graph.complete_native();
    cudaGraph_t native = nullptr;
    {
        const detail::WithoutUserObjects plain(graph);
        detail::checked<GraphError>(cudaGraphClone(&native, graph.native()), "cudaGraphClone");
    }
    detail::UniqueGraph owner(native);
    const auto copy = detail::make_shared_in_spare<GraphState>(native, graph);
    static_cast<void>(owner.release());
    copy->replace_natives(natives_in(*copy, native));
    return Graph(copy);
}

} // namespace cudag
