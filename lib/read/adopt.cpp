// Graph::adopt: takes over a graph that was made with CUDA's own functions.
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "reader.hpp"

namespace cudag {

Graph Graph::adopt(cudaGraph_t graph) {
    if (graph == nullptr) detail::refuse("adopt: the graph is null");
    return Graph(detail::adopted_graph(graph));
}

} // namespace cudag
