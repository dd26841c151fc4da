// A driver without the functions for nodes of one kind, and one without those for nodes of any kind.
#include "check.hpp"

#include <cuda.h>
#include <cudart_cpu/control.hpp>

namespace {

using cudart_cpu::NodeFunctions;

bool is_found(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    CHECK_OK(cudaGetDriverEntryPointByVersion(name, &address, 12040, cudaEnableDefault, &found));
#else
    CHECK_OK(cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found));
#endif
    CHECK((address != nullptr) == (found == cudaDriverEntryPointSuccess));
    return address != nullptr;
}

struct Graph {
    Graph() { CHECK_OK(cudaGraphCreate(&native, 0)); }
    ~Graph() { CHECK_OK(cudaGraphDestroy(native)); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    std::size_t nodes() const {
        std::size_t count = 0;
        CHECK_OK(cudaGraphGetNodes(native, nullptr, &count));
        return count;
    }
    cudaError_t add_empty() const {
        cudaGraphNode_t node = nullptr;
        return cudaGraphAddEmptyNode(&node, native, nullptr, 0);
    }
    cudaError_t add_empty_as_any() const {
        cudaGraphNode_t node = nullptr;
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeEmpty;
#if CUDART_VERSION >= 13000
        return cudaGraphAddNode(&node, native, nullptr, nullptr, 0, &params);
#else
        return cudaGraphAddNode(&node, native, nullptr, 0, &params);
#endif
    }

    cudaGraph_t native = nullptr;
};

void a_driver_has_both() {
    const Graph graph;
    CHECK(is_found("cuGraphAddNode"));
    CHECK(is_found("cuGraphNodeSetParams"));
    CHECK(is_found("cuGraphExecNodeSetParams"));
    CHECK(is_found("cuGraphAddKernelNode"));
    CHECK_OK(graph.add_empty());
    CHECK_OK(graph.add_empty_as_any());
    CHECK(graph.nodes() == 2);
}

void a_driver_without_functions_for_one_kind_refuses_them() {
    const Graph graph;
    cudart_cpu::set_node_functions(NodeFunctions::general);
    CHECK(is_found("cuGraphAddNode"));
    CHECK(is_found("cuGraphNodeGetType"));
    CHECK(!is_found("cuGraphAddKernelNode"));
    CHECK(!is_found("cuGraphKernelNodeGetParams"));
    CHECK(!is_found("cuGraphExecKernelNodeSetParams"));
    CHECK(is_found("cuGraphKernelNodeGetAttribute")); // not announced as deprecated
    CHECK_CODE(cudaErrorNotSupported, graph.add_empty());
    CHECK_CODE(cudaErrorNotSupported, cudaGetLastError());
    cudaGraph_t inner = nullptr;
    CHECK_CODE(cudaErrorNotSupported, cudaGraphChildGraphNodeGetGraph(nullptr, &inner));
    CHECK_CODE(cudaErrorNotSupported, cudaGetLastError());
    CHECK_OK(graph.add_empty_as_any());
    CHECK(graph.nodes() == 1);
    cudart_cpu::set_node_functions(NodeFunctions::all);
    CHECK_OK(graph.add_empty());
}

void a_driver_without_functions_for_any_kind_has_those_for_one() {
    const Graph graph;
    cudart_cpu::set_node_functions(NodeFunctions::by_kind);
    CHECK(!is_found("cuGraphAddNode"));
    CHECK(!is_found("cuGraphNodeSetParams"));
    CHECK(!is_found("cuGraphExecNodeSetParams"));
    CHECK(is_found("cuGraphAddKernelNode"));
    CHECK_OK(graph.add_empty());
    CHECK_OK(graph.add_empty_as_any()); // the runtime's, which conditional nodes need
    cudart_cpu::set_node_functions(NodeFunctions::all);
}

} // namespace

int main() {
    a_driver_has_both();
    a_driver_without_functions_for_one_kind_refuses_them();
    a_driver_without_functions_for_any_kind_has_those_for_one();
}
