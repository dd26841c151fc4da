// Captured regions of a builder's graph.
#include "new_region.hpp"

#include "body_copies.hpp"
#include "cuda/compat.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/stream_status.hpp"
#include "graph/clone_natives.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "lists/none.hpp"
#include "new_node.hpp"
#include "node/rules.hpp"
#include "read/edge_reader.hpp"
#include "read/reader.hpp"

#include <cudag/capture_mode.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory_resource>
#include <new>
#include <utility>

namespace cudag::detail {

namespace {

Subject subject_of(const SourceLocation& where) {
    return {fmt::format("capture at {}", where), {}, where};
}

std::size_t node_count(cudaGraph_t graph) {
    std::size_t count = 0;
    checked<GraphError>(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
    return count;
}

/// Destroys the newest node first, as CUDA forgets edges with their nodes. Returns whether CUDA removed all.
bool destroy_nodes(std::span<const cudaGraphNode_t> nodes) noexcept {
    bool all = true;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        const cudaError_t status = cudaGraphDestroyNode(*node);
        ignore(status);
        all = all && status == cudaSuccess;
    }
    return all;
}

/// Throws GraphError if `stream` is on another device than the body `graph`. Streams without capture support are
/// refused later.
void require_device(const GraphState& graph, cudaStream_t stream, const SourceLocation& where) {
    if (graph.tree().place() != Place::body || stream == nullptr || stream == cudaStreamLegacy) return;
    if (is_captured<GraphError>(stream)) return; // a query of its device would break the capture
    if (const int device = device_of(stream); device != graph.tree().device())
        refuse(fmt::format("the stream is of device {}, and {} is on device {}; all its nodes belong there", device,
                           describe_place(graph), graph.tree().device()),
               subject_of(where));
}

std::span<const std::uint32_t> store(std::pmr::memory_resource& memory, const std::vector<std::uint32_t>& list) {
    auto* copy = static_cast<std::uint32_t*>(memory.allocate(list.size() * sizeof(std::uint32_t)));
    std::copy(list.begin(), list.end(), copy);
    return {copy, list.size()};
}

} // namespace

/// A clone of the graph as it was before the region.
struct NewRegion::Clone {
    explicit Clone(UniqueGraph&& graph) noexcept : native(std::move(graph)) {}

    UniqueGraph native;
    CloneNatives nodes;
};

NewRegion::NewRegion(std::shared_ptr<GraphState> graph, cudaStream_t stream, const CaptureOptions& options,
                     const SourceLocation& where)
    : graph_(*graph), root_(graph->root()), location_(where) {
    require_open(graph_, subject_of(where));
    if (graph_.construction().is_captured_into)
        refuse("nodes are being added to another capture into this graph: fork that one to the stream, or capture "
               "before or after it",
               subject_of(where));
    require_device(graph_, stream, where);
    first_ = static_cast<std::uint32_t>(graph_.records().nodes().size());
    first_native_ = static_cast<std::uint32_t>(node_count(graph_.native()));
    conditions_before_ = graph_.root().conditions().count();
    auto state = std::make_unique<CaptureState>(stream, options, where, std::move(graph), first_native_);
    state_ = state.get();
    capture_.reset(new StreamCapture(Passkey(), std::move(state)));
    graph_.construction().open_region = &location_;
    graph_.construction().is_captured_into = true;
}

NewRegion::~NewRegion() {
    drop();
}

void NewRegion::drop() noexcept {
    if (std::exchange(ended_, true)) return;
    if (!state_->has_ended()) save();
    const bool survives = has_survived();
    close();
    if (has_written())
        lose_graph(survives);
    else if (survives)
        remove_captured();
    else
        recover();
}

bool NewRegion::has_written() const noexcept {
    const CaptureRecords* records = state_->known_records();
    return records != nullptr && (records->has_written() || state_->is_spoiled());
}

void NewRegion::lose_graph(bool exists) noexcept {
    if (exists) ignore(cudaGraphDestroy(root_.native()));
    root_.set_destroyed_by(location_);
}

void NewRegion::close() noexcept {
    graph_.construction().open_region = nullptr;
    graph_.construction().is_captured_into = false;
}

bool NewRegion::has_survived() noexcept {
    const CaptureEnd end = state_->abandon();
    if (end != CaptureEnd::elsewhere) return end == CaptureEnd::well;
    std::size_t count = 0;
    const cudaError_t status = cudaGraphGetNodes(graph_.native(), nullptr, &count); // CUDA recognises destroyed graphs
    ignore(status);
    return status == cudaSuccess;
}

void NewRegion::fail(const CaptureError& cause) {
    drop();
    if (!graph_.construction().destroyed_by) throw;
    const char* reason =
        has_written() ? "because handles would refer to nodes that it no longer has:"
        : state_->abandon() == CaptureEnd::elsewhere
            ? "because the call that ended the capture destroyed it: let the GraphBuilder end captures, and"
            : "because CUDA destroys the graph of a broken capture, and cannot clone this one first:";
    throw CaptureError(static_cast<cudaError_t>(cause.code().value()),
                       fmt::format("{}; the graph under construction is lost with it, {} start again with a new "
                                   "GraphBuilder",
                                   cause.what(), reason),
                       {cause.operation(), cause.log(), cause.labels(), cause.location()});
}

CapturedNode NewRegion::finish() {
    save();
    try {
        static_cast<void>(state_->end());
    } catch (const CaptureError& error) {
        fail(error);
    }
    ended_ = true;
    clone_.reset();
    close();
    try {
        return describe();
    } catch (...) {
        if (has_written())
            lose_graph(true);
        else
            remove_captured();
        throw;
    }
}

bool NewRegion::will_break() const {
    switch (state_->status()) {
    case CaptureStatus::none: // ended elsewhere: the graph may no longer exist
        return false;
    case CaptureStatus::invalidated:
        return true;
    case CaptureStatus::active:
        break;
    }
    return state_->has_unjoined_fork() || is_unjoined();
}

void NewRegion::note_captured() noexcept {
    // Most regions are lines, found from their end. CUDA lists all nodes of the graph, not those from a number on: a
    // region with a fork costs a list of as many handles as the graph has nodes.
    try {
        if (state_->status() != CaptureStatus::active) return;
        const std::vector<cudaGraphNode_t> front = state_->front(state_->stream());
        const std::size_t count = node_count(graph_.native()) - described_to();
        is_all_described_ = count == 0;
        if (front.size() == 1 && !is_all_described_) line_ = EdgeReader::line_to(graph_, front.front(), count);
    } catch (...) { // then they are listed
    }
}

std::uint32_t NewRegion::described_to() const {
    const CaptureRecords* records = state_->known_records();
    return records == nullptr ? first_native_ : records->natives();
}

std::vector<cudaGraphNode_t> NewRegion::undescribed() const {
    if (is_all_described_ || !line_.empty()) return line_;
    return nodes_from(graph_.native(), described_to());
}

std::vector<cudaGraphNode_t> NewRegion::captured() const {
    return state_->known_records() == nullptr ? undescribed() : nodes_from(graph_.native(), first_native_);
}

bool NewRegion::is_unjoined() const {
    if (state_->known_records() == nullptr && !line_.empty()) return false;
    const std::vector<cudaGraphNode_t> nodes = captured();
    const std::vector<cudaGraphNode_t> front = state_->front(state_->stream());
    const NodeIndices joined(front);
    return std::any_of(nodes.begin(), nodes.end(), [&](cudaGraphNode_t node) {
        if (joined.find(front, node) != none) return false;
        std::size_t after = 0;
        checked<GraphError>(compat::graph_node_dependent_count(node, &after), "cudaGraphNodeGetDependentNodes");
        return after == 0;
    });
}

void NewRegion::save() noexcept {
    if (clone_ != nullptr || has_written()) return;
    note_captured();
    if (graph_.tree().parent() != nullptr || !graph_.conditions().all().empty()) return;
    try {
        if (!will_break()) return; // first, because the checks below look at all graphs inside this one
        if (has_memory_nodes(graph_) || has_device_updatable(graph_)) return;
        cudaGraph_t native = nullptr;
        {
            const ThreadCaptureMode relaxed(CaptureMode::relaxed);
            checked<GraphError>(cudaGraphClone(&native, graph_.native()), "cudaGraphClone");
        }
        auto clone = std::make_unique<Clone>(UniqueGraph(native));
        clone->nodes = natives_in(graph_, native);
        std::vector<cudaGraphNode_t> nodes = captured();
        for (cudaGraphNode_t& node : nodes)
            checked<GraphError>(cudaGraphNodeFindInClone(&node, node, native), "cudaGraphNodeFindInClone");
        if (destroy_nodes(nodes)) clone_ = std::move(clone);
    } catch (...) { // the graph will be lost, and an error reports that then
    }
}

void NewRegion::recover() noexcept {
    if (clone_ == nullptr) return root_.set_destroyed_by(location_);
    graph_.replace_natives(std::move(clone_->nodes));
    static_cast<void>(clone_->native.release());
    graph_.forget_from(first_);
}

void NewRegion::remove_captured() noexcept {
    try {
        if (!destroy_nodes(captured())) graph_.construction().has_unwanted_nodes = true;
    } catch (...) {
        graph_.construction().has_unwanted_nodes = true;
    }
    if (state_->known_records() != nullptr) root_.conditions().abandon_from(conditions_before_);
    graph_.forget_from(first_);
}

void NewRegion::require_fit() const {
    if (graph_.tree().place() != Place::body) return;
    const GraphState& outer = *graph_.tree().parent();
    for (auto i = first_; i < graph_.records().nodes().size(); ++i) {
        const NodeRecord& node = graph_.records().nodes()[i];
        Subject subject = node_subject(graph_, i, fmt::format("capture at {}: ", location_));
        if (!rules_of(node.kind).allowed_in_body) {
            subject.labels.emplace_back(outer.records().nodes()[graph_.tree().parent_node()].label);
            refuse(fmt::format("CUDA allows no {} node in the body of {}; enqueue it before or after that node",
                               node.kind, describe_node(outer, graph_.tree().parent_node())),
                   std::move(subject));
        }
        if (const char* reason = why_not_in_body(node.params); reason != nullptr)
            refuse(fmt::format("{} takes no such copy: {}", describe_place(graph_), reason), std::move(subject));
    }
}

CapturedNode NewRegion::describe() {
    std::vector<EdgeRecord> edges = describe_region(graph_, undescribed(), location_);
    name_nodes(graph_, first_, first_native_, state_->names());
    note_launches(graph_, state_->launches());
    if (state_->known_records() != nullptr) edges = graph_.edges(); // including earlier ones
    require_fit();
    state_->require_nodes(graph_.records().nodes().size() - first_);
    if (graph_.records().nodes().size() == first_) {
        graph_.reserve_node();
        line_.reserve(1);
        cudaGraphNode_t const join =
            added_native_node<GraphError>(graph_.native(), native_params(CU_GRAPH_NODE_TYPE_EMPTY));
        line_.push_back(join); // a failure of the rest removes it, too
        graph_.append(join, {NodeKind::empty, std::monostate(), {}, location_});
    }
    note_front(graph_.edge_lists(), graph_.records().natives(), state_->last_front());
    const auto count = static_cast<std::uint32_t>(graph_.records().nodes().size()) - first_;
    std::vector<bool> has_before(count);
    std::vector<bool> has_after(count);
    for (const EdgeRecord& edge : edges) {
        if (edge.from - first_ >= count || edge.to - first_ >= count) continue; // earlier nodes wrap around
        has_before[edge.to - first_] = true;
        has_after[edge.from - first_] = true;
    }
    const std::uint32_t first_number = graph_.identity().number_of(first_);
    std::vector<std::uint32_t> roots;
    std::vector<std::uint32_t> tails;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!has_before[i]) roots.push_back(first_number + i);
        if (!has_after[i]) tails.push_back(first_number + i);
    }
    std::pmr::memory_resource& memory = graph_.records().memory().of_regions();
    const RegionNodes* nodes = new (memory.allocate(sizeof(RegionNodes)))
        RegionNodes{first_number, count, store(memory, roots), store(memory, tails), location_};
    std::vector<const RegionNodes*>& regions = graph_.construction().regions;
    reserve_more(regions, 1);
    graph_.records().units().reserve();
    keep_owners(graph_, std::move(state_->owners()), first_);
    regions.push_back(nodes);
    graph_.records().units().add(first_, count, unit_of(*nodes));
    return Access::region_of(graph_.identity().handle(first_), *nodes);
}

} // namespace cudag::detail
