// Marks between the nodes of CUDA's graph.
#include "marks.hpp"

#include "cuda/compat.hpp"
#include "cuda/device_guard.hpp"
#include "graph/find.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/native_graph.hpp"
#include "mark_layout.hpp"
#include "recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cudag::detail {

std::string unrecordable(const GraphState& graph, bool is_device_launched, NodePlace& culprit) {
    if (is_device_launched) return "kernels launch it, and no stream then reports its faults; leave out device_launch";
    culprit = find_memory_node(graph);
    if (culprit) return "CUDA removes no marks from a graph with graph memory; use a DeviceBuffer or a memory pool";
    return {};
}

namespace {

/// Adds a fill of `count` words with `value` to `graph`.
cudaGraphNode_t add_mark(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after, std::uint32_t* words,
                         std::size_t count, unsigned value) {
    cudaMemsetParams fill{};
    fill.dst = words;
    fill.elementSize = sizeof *words;
    fill.value = value;
    fill.width = count;
    fill.height = 1;
    cudaGraphNode_t node = nullptr;
    checked<InstantiateError>(cudaGraphAddMemsetNode(&node, graph, after.data(), after.size(), &fill),
                              "cudaGraphAddMemsetNode");
    return node;
}

} // namespace

Marks::Marks(GraphState& graph, const GraphState& numbered, const Recorder& recorder) : Marks(recorder) {
    bind_context();
    add(graph, numbered);
}

Marks::~Marks() {
    for (std::size_t i = added_.size(); i > 0; --i)
        report_release(cudaGraphDestroyNode(added_[i - 1]), "cudaGraphDestroyNode");
    for (GraphState* const graph : graphs_)
        edge_lists_of(*graph).note_moved_sinks();
}

void Marks::add(GraphState& graph, const GraphState& numbered) {
    const std::vector<NodeRecord>& nodes = records_of(graph).nodes();
    const MarkLayout layout = mark_layout(graph);
    const std::uint32_t first = tree_of(numbered).first_number();
    std::vector<cudaGraphNode_t> natives = records_of(graph).natives();
    natives.insert(natives.end(), edge_lists_of(graph).plan().kernels.begin(),
                   edge_lists_of(graph).plan().kernels.end());
    if (nodes.empty()) return;

    std::optional<DeviceGuard> device;
    if (tree_of(graph).place() == Place::body) device.emplace(tree_of(graph).device()); // that of all its nodes
    added_.reserve(added_.size() + 2 * natives.size() + 1);
    graphs_.push_back(&graph);
    const cudaGraph_t native = native_of(graph);
    // The words of the last run, or of the last turn of a loop, are cleared first.
    const cudaGraphNode_t clear = add_mark(native, {}, recorder_.begin_word(first), 2 * nodes.size(), 0);
    added_.push_back(clear);

    std::vector<cudaGraphNode_t> from, to;
    for (std::uint32_t i = 0; i < natives.size(); ++i) {
        std::vector<cudaGraphNode_t> after;
        for (const std::uint32_t before : layout.before[i])
            after.push_back(natives[before]);
        if (after.empty()) after.push_back(clear);
        cudaGraphNode_t mark = clear;
        if (layout.is_marked[i]) {
            std::optional<DeviceGuard> own;
            if (!device && nodes[i].device != any_device) own.emplace(nodes[i].device);
            mark = add_mark(native, after, recorder_.begin_word(first + i), 1, 1);
            added_.push_back(mark);
            if (layout.needs_end[i])
                added_.push_back(add_mark(native, {natives[i]}, recorder_.end_word(first + i), 1, 1));
        }
        if (mark == clear && !layout.before[i].empty()) continue;
        from.push_back(mark);
        to.push_back(natives[i]);
    }
    checked<InstantiateError>(compat::graph_add_dependencies(native, from.data(), to.data(), nullptr, from.size()),
                              "cudaGraphAddDependencies");

    for (std::size_t i = 0; i < nested_of(graph).size(); ++i)
        add(*nested_of(graph)[i], *nested_of(numbered)[i]);
}

} // namespace cudag::detail
