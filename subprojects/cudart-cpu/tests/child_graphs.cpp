// What the CPU runtime alone says of child graphs: the order of their nodes, and what counts as alive.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

cudaGraph_t new_graph() {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    return graph;
}

void CUDART_CB nothing(void*) {}

cudaGraphNode_t add_host(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after = {}) {
    const cudaHostNodeParams params{nothing, nullptr};
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

/// A host node beside a child graph of two.
cudaGraph_t family() {
    cudaGraph_t child = new_graph();
    add_host(child, {add_host(child)});
    cudaGraph_t graph = new_graph();
    add_host(graph);
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    CHECK_OK(cudaGraphDestroy(child));
    return graph;
}

std::string joined(const std::vector<std::string>& order) {
    std::string result;
    for (const std::string& one : order) {
        result += one + "; ";
    }
    return result;
}

void nodes_beside_a_child_graph_run_before_between_and_after_its_nodes() {
    cudart_cpu::set_workers(1);
    cudaGraph_t graph = family();
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    std::set<std::string> orders;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        cudart_cpu::set_seed(seed);
        CHECK_OK(cudaGraphLaunch(exec, nullptr));
        CHECK_OK(cudaDeviceSynchronize());
        orders.insert(joined(cudart_cpu::last_order()));
    }
    CHECK(orders == std::set<std::string>({
                        "0: host; 1: child graph; 1/0: host; 1/1: host; ",
                        "1: child graph; 0: host; 1/0: host; 1/1: host; ",
                        "1: child graph; 1/0: host; 0: host; 1/1: host; ",
                        "1: child graph; 1/0: host; 1/1: host; 0: host; ",
                    }));
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
}

void a_graph_inside_a_node_does_not_count() {
    const std::size_t before = cudart_cpu::live().graphs;
    cudaGraph_t graph = family();
    CHECK(cudart_cpu::live().graphs == before + 1);
    cudaGraph_t clone = nullptr;
    CHECK_OK(cudaGraphClone(&clone, graph));
    CHECK(cudart_cpu::live().graphs == before + 2);
    CHECK_OK(cudaGraphDestroy(clone));
#if CUDART_VERSION >= 13000
    cudaGraph_t parent = new_graph();
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = graph;
    params.graph.ownership = cudaGraphChildGraphOwnershipMove;
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
    CHECK(cudart_cpu::live().graphs == before + 1);
    graph = parent;
#endif
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK(cudart_cpu::live().graphs == before);
}

void a_child_graph_is_drawn_inside_its_node() {
    cudaGraph_t graph = family();
    CHECK_OK(cudaGraphDebugDotPrint(graph, "child_graphs.dot", 0));
    std::ifstream file("child_graphs.dot");
    std::stringstream text;
    text << file.rdbuf();
    const std::string dot = text.str();
    CHECK(dot.find("subgraph cluster_n1_0 {") != std::string::npos);
    CHECK(dot.find("n1_0_0 -> n1_0_1;") != std::string::npos);
    CHECK_OK(cudaGraphDestroy(graph));
}

} // namespace

int main() {
    nodes_beside_a_child_graph_run_before_between_and_after_its_nodes();
    a_graph_inside_a_node_does_not_count();
    a_child_graph_is_drawn_inside_its_node();
}
