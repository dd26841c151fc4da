// A graph written for Graphviz.
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

void write_dot(std::ostream& out, const Graph& graph, unsigned flags) {
    std::unordered_map<const Node*, std::size_t> numbers;
    out << "digraph graph_dot {\n  node [shape=box];\n";
    for (const auto& node : graph.nodes()) {
        const std::size_t index = numbers.size();
        numbers.emplace(node.get(), index);
        out << "  n" << index << " [label=" << quoted(label(*node, index, flags)) << "];\n";
    }
    for (const auto& node : graph.nodes())
        for (const Node* dependent : node->dependents)
            out << "  n" << numbers.at(node.get()) << " -> n" << numbers.at(dependent) << ";\n";
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
