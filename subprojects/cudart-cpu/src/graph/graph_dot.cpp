// The output of graphs for Graphviz.
#include "graph_model.hpp"

#include <fstream>

namespace cudart_cpu::detail {

namespace {

constexpr unsigned params_flag(cudaGraphNodeType type) {
    switch (type) {
    case cudaGraphNodeTypeKernel:
        return cudaGraphDebugDotFlagsKernelNodeParams | cudaGraphDebugDotFlagsKernelNodeAttributes;
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphDebugDotFlagsMemcpyNodeParams;
    case cudaGraphNodeTypeMemset:
        return cudaGraphDebugDotFlagsMemsetNodeParams;
    case cudaGraphNodeTypeHost:
        return cudaGraphDebugDotFlagsHostNodeParams;
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphDebugDotFlagsEventNodeParams;
    case cudaGraphNodeTypeExtSemaphoreSignal:
        return cudaGraphDebugDotFlagsExtSemasSignalNodeParams;
    case cudaGraphNodeTypeExtSemaphoreWait:
        return cudaGraphDebugDotFlagsExtSemasWaitNodeParams;
#if CUDART_VERSION >= 13050
    case cudaGraphNodeTypeMemcpyBatch:
        return cudaGraphDebugDotFlagsMemcpyBatchNodeParams;
#endif
    default:
        return 0;
    }
}

std::string quoted(const std::string& label) {
    std::string result = "\"";
    for (const char c : label) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string label(const Node& node, std::size_t index, unsigned flags) {
    const bool verbose = (flags & cudaGraphDebugDotFlagsVerbose) != 0;
    const bool params = verbose || (flags & params_flag(node.work->type())) != 0;
    std::string result = text(index, ": ", params ? node.work->details() : node.work->title());
    if (verbose || (flags & cudaGraphDebugDotFlagsHandles) != 0) result += text(" handle ", node.handle);
    return result;
}

const char* edge_attributes(const cudaGraphEdgeData& data) {
    if (is_ordinary(data)) return "";
    return data.from_port == cudaGraphKernelNodePortProgrammatic ? " [label=\"programmatic\"]"
                                                                 : " [label=\"launch completion\"]";
}

/// `prefix` distinguishes the names of the graph's nodes from names in other graphs of the file.
void write_nodes(std::ostream& out, const Graph& graph, unsigned flags, const std::string& prefix) {
    std::unordered_map<const Node*, std::size_t> numbers;
    for (const auto& node : graph.nodes()) {
        const std::size_t index = numbers.size();
        numbers.emplace(node.get(), index);
        const std::string name = text(prefix, index);
        out << "  " << name << " [label=" << quoted(label(*node, index, flags)) << "];\n";
        for (std::size_t body = 0; body < node->bodies.size(); ++body) {
            out << "  subgraph cluster_" << name << '_' << body << " {\n  label=" << quoted(label(*node, index, 0))
                << ";\n";
            write_nodes(out, *node->bodies[body], flags, text(name, '_', body, '_'));
            out << "  }\n";
        }
    }
    for (const auto& node : graph.nodes())
        for (std::size_t i = 0; i < node->dependents.size(); ++i)
            out << "  " << prefix << numbers.at(node.get()) << " -> " << prefix << numbers.at(node->dependents[i])
                << edge_attributes(node->dependent_data[i]) << ";\n";
}

void write_dot(std::ostream& out, const Graph& graph, unsigned flags) {
    out << "digraph graph_dot {\n  node [shape=box];\n";
    write_nodes(out, graph, flags, "n");
    out << "}\n";
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
    return graph_api("cudaGraphDebugDotPrint", [&] {
        const Graph& printed = graph_of(graph);
        require_pointer(path, "path");
        std::ofstream file(path);
        write_dot(file, printed, flags);
        file.close();
        if (!file) fail(cudaErrorOperatingSystem, text("cannot write ", path));
    });
}
