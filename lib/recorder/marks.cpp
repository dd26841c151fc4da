// Marks between the nodes of CUDA's graph.
#include "marks.hpp"

#include "cuda/compat.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/own_kernels.hpp"
#include "graph/find.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/native_graph.hpp"
#include "mark_layout.hpp"
#include "node/fill.hpp"
#include "recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

namespace cudag::detail {

std::string unrecordable(const GraphState& graph, bool is_device_launched, NodePlace& culprit) {
    if (is_device_launched) return "kernels launch it, and no stream then reports its faults; leave out device_launch";
    culprit = find_memory_node(graph);
    if (culprit) return "CUDA removes no marks from a graph with graph memory; use a DeviceBuffer or a memory pool";
    return {};
}

namespace {

/// The kernel `__global__ void cudag_mark(volatile unsigned* words, unsigned count, unsigned value)`, for one block.
constexpr const char* mark_ptx = R"(.version 8.0
.target sm_52
.address_size 64
.visible .entry cudag_mark(
    .param .u64 words,
    .param .u32 count,
    .param .u32 value
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [words];
    ld.param.u32 %r1, [count];
    ld.param.u32 %r2, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ntid.x;
next:
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.volatile.global.u32 [%rd4], %r2;
    add.u32 %r3, %r3, %r4;
    bra next;
done:
    ret;
}
)";

/// The kernel; null if there is none: for drivers before 12.8 and the CPU runtime.
cudaKernel_t mark_kernel() noexcept {
    static const cudaKernel_t kernel = []() -> cudaKernel_t {
        try {
            return load_kernel(mark_ptx, "cudag_mark");
        } catch (const std::exception&) {
            return nullptr;
        }
    }();
    return kernel;
}

/// Adds a node that sets `count` words to `value`: a kernel if possible, because a graph with fills of host memory
/// takes some hundred times as long to launch.
cudaGraphNode_t add_mark(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after, std::uint32_t* words,
                         std::uint32_t count, std::uint32_t value) {
    if (const cudaKernel_t kernel = mark_kernel()) {
        void* arguments[] = {&words, &count, &value};
        CUgraphNodeParams params = own_kernel_params(kernel, arguments);
        params.kernel.blockDimX = count == 1 ? 1U : 256U;
        return added_native_node<InstantiateError>(graph, params, after);
    }
    cudaGraphNode_t node = nullptr;
    checked<InstantiateError>(add_native(node, graph, SetParams{words, count, sizeof *words, value}, after));
    return node;
}

} // namespace

Marks::Marks(GraphState& graph, const GraphState& numbered, const Recorder& recorder) : Marks(recorder) {
    bind_context();
    add(graph, numbered);
}

Marks::~Marks() {
    for (std::size_t i = added_.size(); i > 0; --i) {
        const auto destroy = [&] { return cudaGraphDestroyNode(added_[i - 1]); };
        const cudaError_t status = destroy();
        if (status == cudaSuccess) continue;
        ignore(status); // a mark that stays would be in all later Execs: try again before giving up
        report_release(destroy(), "cudaGraphDestroyNode");
    }
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

    std::optional<PlaceGuard> device;
    if (tree_of(graph).place() == Place::body) device.emplace(tree_of(graph).device()); // that of all its nodes
    added_.reserve(added_.size() + 2 * natives.size() + 1);
    graphs_.push_back(&graph);
    const cudaGraph_t native = native_of(graph);
    // The words of the last run, or of the last turn of a loop, are cleared first.
    const cudaGraphNode_t clear =
        add_mark(native, {}, recorder_.begin_word(first), static_cast<std::uint32_t>(2 * nodes.size()), 0);
    added_.push_back(clear);

    const auto add_on_device = [&](std::uint32_t node, const std::vector<cudaGraphNode_t>& after, std::uint32_t* word) {
        std::optional<PlaceGuard> own;
        if (!device && nodes[node].device != any_device) own.emplace(nodes[node].device);
        added_.push_back(add_mark(native, after, word, 1, 1));
        return added_.back();
    };
    // Later marks wait for the end marks, not only for the nodes: last nodes are what makes a launch slow.
    std::vector<cudaGraphNode_t> ends = natives;
    for (std::uint32_t i = 0; i < natives.size(); ++i)
        if (layout.needs_end[i]) ends[i] = add_on_device(i, {natives[i]}, recorder_.end_word(first + i));
    std::vector<cudaGraphNode_t> from, to;
    for (std::uint32_t i = 0; i < natives.size(); ++i) {
        std::vector<cudaGraphNode_t> after;
        for (const std::uint32_t before : layout.before[i])
            after.push_back(ends[before]);
        if (after.empty()) after.push_back(clear);
        cudaGraphNode_t mark = clear;
        if (layout.is_marked[i]) mark = add_on_device(i, after, recorder_.begin_word(first + i));
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
