// Stream capture: operations of a stream become nodes of a graph.
#include "capture.hpp"

#include "capture_rules.hpp"
#include "runtime/device_model.hpp"
#include "stream/event.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_set>

namespace cudart_cpu::detail {

namespace {

std::vector<std::shared_ptr<Capture>>& in_progress() {
    static auto& list = *new std::vector<std::shared_ptr<Capture>>;
    return list;
}

std::atomic<std::size_t> capture_count{0};

/// Numbers captures as CUDA does: the captures into one graph share a number.
unsigned long long capture_id_of(Graph& graph) noexcept {
    static std::atomic<unsigned long long> last{0};
    if (graph.capture_id == 0) graph.capture_id = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return graph.capture_id;
}

/// The number of a thread, never reused, unlike the system's thread numbers.
unsigned long long this_thread() noexcept {
    static std::atomic<unsigned long long> last{0};
    thread_local const unsigned long long number = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
}

std::vector<Node*> nodes_of(const CaptureFront& front) {
    std::vector<Node*> nodes;
    nodes.reserve(front.nodes.size());
    for (const cudaGraphNode_t handle : front.nodes)
        nodes.push_back(&node_of(handle));
    return nodes;
}

/// Merges two edges into one that waits for both: for all of the node, or for the later of its ports.
cudaGraphEdgeData joined(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) {
    if (a.from_port == cudaGraphKernelNodePortDefault || b.from_port == cudaGraphKernelNodePortDefault) return {};
    cudaGraphEdgeData both = a;
    both.from_port = std::min(a.from_port, b.from_port); // all blocks have started when the programmatic port triggers
    both.type = std::max(a.type, b.type);
    return both;
}

} // namespace

void CaptureFront::add(cudaGraphNode_t node, const cudaGraphEdgeData& edge) {
    if (const std::size_t place = place_of(node); place != nodes.size()) {
        cudaGraphEdgeData& known = data[place];
        if (!same(known, edge)) known = joined(known, edge);
        return;
    }
    nodes.push_back(node);
    data.push_back(edge);
}

std::size_t CaptureFront::place_of(cudaGraphNode_t node) {
    constexpr std::size_t few = 16;
    if (nodes.size() <= few) return static_cast<std::size_t>(std::ranges::find(nodes, node) - nodes.begin());
    for (std::size_t i = places.size(); i < nodes.size(); ++i)
        places.emplace(nodes[i], i);
    const auto found = places.find(node);
    return found == places.end() ? nodes.size() : found->second;
}

void CaptureFront::add(const CaptureFront& other) {
    for (std::size_t i = 0; i < other.nodes.size(); ++i)
        add(other.nodes[i], other.data[i]);
}

Capture::Capture(Stream& origin, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph, bool makes_graph)
    : origin_(origin), mode_(mode), thread_(this_thread()), id_(capture_id_of(*graph)), graph_(std::move(graph)),
      makes_graph_(makes_graph) {}

bool Capture::is_of_this_thread() const noexcept {
    return thread_ == this_thread();
}

void Capture::join(Stream& stream, const CaptureFront& front) {
    members_[&stream].add(front);
}

void Capture::leave(Stream& stream) {
    left_.add(members_.at(&stream));
    members_.erase(&stream);
}

bool Capture::is_joined() const {
    std::vector<const Node*> open;
    for (const Node* node : nodes_of(members_.at(&origin_)))
        open.push_back(node);
    std::unordered_set<const Node*> reached(open.begin(), open.end());
    while (!open.empty()) {
        const Node& node = *open.back();
        open.pop_back();
        for (const Node* dependency : node.dependencies)
            if (reached.insert(dependency).second) open.push_back(dependency);
    }
    const auto is_reached = [&](const CaptureFront& front) {
        return std::ranges::all_of(nodes_of(front), [&](const Node* node) { return reached.contains(node); });
    };
    return is_reached(left_) &&
           std::ranges::all_of(members_, [&](const auto& member) { return is_reached(member.second); });
}

std::vector<Node*> Capture::before(Stream& member) {
    return nodes_of(front_of(member));
}

Node& Capture::add(Stream& member, NodeContent content, const std::vector<cudaGraphEdgeData>& data) {
    CaptureFront& front = front_of(member);
    CaptureFront next{{nullptr}, {{}}};
    Node& node = graph_->add(std::move(content), nodes_of(front), data.data());
    next.nodes.front() = node.handle;
    front = std::move(next);
    return node;
}

const std::vector<std::shared_ptr<Capture>>& captures() {
    return in_progress();
}

bool is_any_capture() noexcept {
    return capture_count.load(std::memory_order_relaxed) > 0;
}

namespace {

/// Removes a stream that ends from its capture; drops the capture if the stream has begun it. Takes the lock.
void leave_capture(Stream& stream) noexcept {
    if (!is_any_capture()) return;
    const DestructionScope destruction_scope;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = stream.capture();
    if (!capture) return;
    if (&capture->origin() == &stream)
        drop_capture(capture);
    else
        capture->leave(stream);
}

} // namespace

void begin_capture(const std::shared_ptr<Capture>& capture, const CaptureFront& front) {
    set_stream_end(&leave_capture);
    capture->join(capture->origin(), front);
    in_progress().push_back(capture);
    capture->graph()->is_captured_to = true;
    capture->origin().set_capture(capture);
    capture_count.store(in_progress().size(), std::memory_order_relaxed);
}

void end_capture(const std::shared_ptr<Capture>& capture) noexcept {
    for (const auto& member : capture->members())
        member.first->set_capture(nullptr);
    std::erase(in_progress(), capture);
    capture->graph()->is_captured_to = false;
    capture_count.store(in_progress().size(), std::memory_order_relaxed);
}

void drop_capture(const std::shared_ptr<Capture>& capture) noexcept {
    end_capture(capture);
    lose_graph(*capture->graph());
}

cudaStreamCaptureStatus capture_status_of(const Stream& stream) {
    require_no_implicit_dependency(stream);
    const auto& capture = stream.capture();
    return !capture              ? cudaStreamCaptureStatusNone
           : capture->is_valid() ? cudaStreamCaptureStatusActive
                                 : cudaStreamCaptureStatusInvalidated;
}

std::shared_ptr<Capture> active_capture_of(Stream& stream) {
    refuse_implicit_dependency(stream);
    const std::shared_ptr<Capture>& capture = stream.capture();
    if (capture && !capture->is_valid()) fail(cudaErrorStreamCaptureInvalidated, {});
    return capture;
}

std::shared_ptr<Capture> active_capture_of(const CapturedRecord& record) {
    std::shared_ptr<Capture> capture = record.capture.lock();
    return capture && capture->is_valid() ? capture : nullptr;
}

bool is_capturing(Stream& stream) {
    if (!is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    return active_capture_of(stream) != nullptr;
}

bool captured(Stream& stream, const MakeNode& make) {
    if (!is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = active_capture_of(stream);
    if (!capture) return false;
    const OnDevice device(stream.device()); // captured work belongs to it, not to the caller's
    const NodesInContext context(stream.context());
    NodeContent content = make(*capture->graph(), capture->before(stream));
    require_operands(*content.work, nullptr);
    capture->add(stream, std::move(content), capture->front_of(stream).data);
    return true;
}

bool captured_record(Event& event, Stream& stream) {
    if (!is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = active_capture_of(stream);
    if (!capture) return false;
    event.set_captured(std::make_shared<const CapturedRecord>(CapturedRecord{capture, capture->front_of(stream)}));
    return true;
}

bool captured_wait(Stream& stream, const Event& event) {
    const std::shared_ptr<const CapturedRecord> record = event.captured();
    if (!record && !is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = active_capture_of(stream);
    if (!record && !capture) return false;
    if (!record) {
        // A wait for an event without any record waits for nothing.
        if (!event.recorded()) return true;
        capture->invalidate();
        fail(cudaErrorStreamCaptureIsolation, {});
    }
    const std::shared_ptr<Capture> recorder = active_capture_of(*record);
    if (!recorder) {
        if (capture) capture->invalidate();
        fail_over_event();
    }
    if (is_legacy(stream)) {
        recorder->invalidate();
        fail(cudaErrorStreamCaptureImplicit, {});
    }
    if (capture && capture != recorder) {
        capture->invalidate();
        recorder->invalidate();
        fail(cudaErrorStreamCaptureMerge, {});
    }
    recorder->join(stream, record->front);
    stream.set_capture(recorder);
    return true;
}

} // namespace cudart_cpu::detail
