// StreamCapture: additions of nodes to a running capture, and its end.
#include <cudag/builder.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/condition.hpp>

#include "capture/capture_state.hpp"
#include "capture_nodes.hpp"
#include "cuda/failure.hpp"
#include "cuda/relaxed_capture.hpp"
#include "graph/check_edges.hpp"
#include "graph/conditions.hpp"
#include "graph/construction.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/native_graph.hpp"
#include "owners/capture_owners.hpp"
#include "read/reader.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cudag {

namespace {

using detail::CaptureCall;
using detail::CaptureRecords;
using detail::CaptureState;
using detail::GraphState;

/// Lets a graph with an open capture take nodes during its lifetime, for one call.
class Opening {
  public:
    explicit Opening(GraphState& graph) noexcept
        : graph_(graph), region_(std::exchange(construction_of(graph).open_region, nullptr)) {}
    ~Opening() { construction_of(graph_).open_region = region_; }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

  private:
    GraphState& graph_;
    const SourceLocation* region_;
};

/// Whether CUDA reports `count` nodes in the graph.
bool has_natives(const GraphState& graph, std::size_t count) noexcept {
    std::size_t found = 0;
    const cudaError_t status = cudaGraphGetNodes(native_of(graph), nullptr, &found);
    detail::ignore(status);
    return status == cudaSuccess && found == count;
}

/// Lets CUDA's graph, captured by other code, keep the owners of the nodes added so far.
void give_owners(GraphState& graph, cudaStream_t stream) {
    detail::Owners owners;
    list_owners(graph, owners);
    keep_with_capture(stream, owners);
    drop_owners(graph);
}

} // namespace

void detail::add_to_capture(CaptureState& state, cudaStream_t stream, const CaptureCall& call,
                            const std::function<void(const std::shared_ptr<GraphState>&)>& function) {
    state.require_active(call);
    state.require_errors_read(call, "before these nodes, ");
    CaptureRecords& records = state.records();
    const std::shared_ptr<GraphState> graph = records.graph();
    if (construction_of(*graph).open_region == nullptr)
        detail::refuse<CaptureError>("nodes are being added to this capture already: add them with that GraphBuilder",
                                     state.subject(call));
    const std::vector<cudaGraphNode_t> front = state.front(stream);
    records.catch_up(front);
    settle_edges(*graph, "add");
    const auto first = static_cast<std::uint32_t>(records_of(*graph).nodes().size());
    const std::size_t first_edge = edges_of(*graph).size();
    const std::size_t natives = records.natives();
    const std::size_t conditions = conditions_of(root_of(*graph)).count();
    try {
        {
            const detail::RelaxedCapture relaxed; // for a repeat's count, and for kernels loaded now
            const Opening open(*graph);
            function(graph);
        }
        state.require_active(call);
        const std::size_t count = records_of(*graph).nodes().size() - first;
        if (state.front(stream) != front || state.node_count(call) != natives + count)
            detail::refuse<CaptureError>("work was enqueued into the capture while nodes were added to it: enqueue it "
                                         "before or after",
                                         state.subject(call));
        if (count != 0) state.continue_after(records.connect(first, first_edge, front), call, stream);
        if (state.host() == detail::CaptureHost::other) give_owners(*graph, state.stream());
    } catch (...) {
        if (has_natives(*graph, natives)) {
            conditions_of(root_of(*graph)).abandon_from(conditions);
        } else { // CUDA removes no nodes now, and handles of them exist
            state.spoil(call.location.line != 0 ? call.location : state.location());
            set_destroyed_by(root_of(*graph), state.location());
        }
        throw;
    }
}

void StreamCapture::add_nodes(const detail::GraphBody& function, const SourceLocation& location) {
    detail::add_to_capture(*state_, state_->stream(), {"add", {}, location},
                           [&](const std::shared_ptr<GraphState>& graph) {
                               GraphBuilder builder(graph);
                               function(builder);
                           });
}

Node StreamCapture::add_conditional(detail::ConditionalKind kind, const Condition& condition,
                                    const detail::GraphBody* bodies, std::size_t count,
                                    const SourceLocation& location) {
    return add([&](GraphBuilder& b) { return b.add_conditional(kind, condition, bodies, count, location); }, location);
}

Node StreamCapture::add_repeat(unsigned times, const detail::GraphBody& body, const SourceLocation& location) {
    return add([&](GraphBuilder& b) { return b.add_repeat(times, body, location); }, location);
}

Graph StreamCapture::build_written() {
    CaptureRecords& records = *state_->known_records();
    const std::shared_ptr<GraphState> graph = records.graph();
    std::vector<cudaGraphNode_t>& front = state_->last_front();
    records.catch_up(front);
    records.name(state_->names());
    note_launches(*graph, state_->launches());
    note_front(edge_lists_of(*graph), records_of(*graph).natives(), front);
    construction_of(*graph).open_region = nullptr;
    construction_of(*graph).is_captured_into = false;
    construction_of(*graph).options.races = Races::allowed; // as in other captures: their graphs only report races
    GraphBuilder builder(graph);
    builder.is_view_ = false;
    Graph built = std::move(builder).build(state_->location());
    if (state_->host() == detail::CaptureHost::self) take_native(*graph);
    return built;
}

void StreamCapture::check_written(const CaptureCall& call) {
    CaptureState& state = *state_;
    std::vector<cudaGraphNode_t> front = state.front(state.stream());
    try {
        state.last_front() = front;
        const Graph checked = build_written();
        const auto& natives = records_of(*state.records().graph()).natives();
        const std::size_t first = state.records().natives();
        if (first == natives.size()) return;
        front.insert(front.end(), natives.begin() + static_cast<std::ptrdiff_t>(first), natives.end());
        state.continue_after(std::move(front), call, state.stream()); // nodes of conditions left over
    } catch (...) {
        state.spoil(state.location());
        throw;
    }
}

} // namespace cudag
