// Stream capture: operations given to a stream become nodes of a graph.
#include "capture.hpp"

#include "capture_rules.hpp"
#include "event.hpp"
#include "graph_params.hpp"

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

unsigned long long next_capture_id() noexcept {
    static std::atomic<unsigned long long> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Never used again, as the system's numbers of threads are.
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

} // namespace

void CaptureFront::add(cudaGraphNode_t node, const cudaGraphEdgeData& edge) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i] == node) return;
    nodes.push_back(node);
    data.push_back(edge);
}

void CaptureFront::add(const CaptureFront& other) {
    for (std::size_t i = 0; i < other.nodes.size(); ++i)
        add(other.nodes[i], other.data[i]);
}

Capture::Capture(Stream& origin, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph, bool owns_graph)
    : origin_(origin), mode_(mode), thread_(this_thread()), id_(next_capture_id()), graph_(std::move(graph)),
      owns_graph_(owns_graph) {}

bool Capture::is_of_this_thread() const noexcept {
    return thread_ == this_thread();
}

void Capture::join(Stream& stream, const CaptureFront& front) {
    members_[&stream].add(front);
}

void Capture::leave(Stream& stream) noexcept {
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
    return std::ranges::all_of(members_, [&](const auto& member) {
        return std::ranges::all_of(nodes_of(member.second), [&](const Node* node) { return reached.contains(node); });
    });
}

const std::vector<std::shared_ptr<Capture>>& captures() {
    return in_progress();
}

bool is_any_capture() noexcept {
    return capture_count.load(std::memory_order_relaxed) > 0;
}

void begin_capture(std::shared_ptr<Capture> capture, const CaptureFront& front) {
    capture->join(capture->origin(), front);
    in_progress().push_back(capture);
    capture->origin().set_capture(std::move(capture));
    capture_count.store(in_progress().size(), std::memory_order_relaxed);
}

void end_capture(const std::shared_ptr<Capture>& capture) noexcept {
    for (const auto& member : capture->members())
        member.first->set_capture(nullptr);
    std::erase(in_progress(), capture);
    capture_count.store(in_progress().size(), std::memory_order_relaxed);
}

void drop_capture(const std::shared_ptr<Capture>& capture) noexcept {
    end_capture(capture);
    if (capture->owns_graph()) destroy_graph(capture->graph()->handle());
}

void leave_capture(Stream& stream) noexcept {
    if (!is_any_capture()) return;
    const DestructionScope destruction_scope;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = stream.capture();
    if (!capture) return;
    capture->invalidate();
    if (&capture->origin() == &stream)
        drop_capture(capture);
    else
        capture->leave(stream);
}

cudaStreamCaptureStatus capture_status_of(const Stream& stream) {
    require_no_implicit_dependency(stream);
    return stream.capture() ? stream.capture()->status() : cudaStreamCaptureStatusNone;
}

std::shared_ptr<Capture> active_capture_of(Stream& stream) {
    refuse_implicit_dependency(stream);
    const std::shared_ptr<Capture>& capture = stream.capture();
    if (capture && capture->status() == cudaStreamCaptureStatusInvalidated)
        fail(cudaErrorStreamCaptureInvalidated,
             "the capture that the stream is in was invalidated by an earlier error");
    return capture;
}

bool captured_under_lock(Stream& stream, const MakeNode& make) {
    if (!is_any_capture()) return false;
    const std::shared_ptr<Capture> capture = active_capture_of(stream);
    if (!capture) return false;
    CaptureFront& front = capture->front_of(stream);
    const std::vector<Node*> before = nodes_of(front);
    NodeContent content = make(*capture->graph(), before);
    require_operands(*content.work, nullptr);
    CaptureFront next;
    next.nodes.reserve(1);
    next.data.reserve(1);
    Node& node = capture->graph()->add(std::move(content), before, front.data.data());
    next.add(node.handle, {});
    front = std::move(next);
    return true;
}

bool captured(Stream& stream, const MakeNode& make) {
    if (!is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    return captured_under_lock(stream, make);
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
    const std::shared_ptr<Capture> recorder = record ? record->capture.lock() : nullptr;
    if (!record && !capture) return false;
    if (!recorder) {
        if (capture) capture->invalidate();
        fail(cudaErrorStreamCaptureIsolation, record ? "the event was recorded in a capture that has ended"
                                                     : "the event was recorded outside of the stream's capture");
    }
    if (recorder->status() == cudaStreamCaptureStatusInvalidated) {
        if (capture) capture->invalidate();
        fail(cudaErrorStreamCaptureInvalidated, "the event was recorded in a capture that is invalid now");
    }
    if (capture && capture != recorder) {
        capture->invalidate();
        recorder->invalidate();
        fail(cudaErrorStreamCaptureMerge, "the event was recorded in another capture than the stream's");
    }
    if (!capture && is_legacy(stream)) {
        recorder->invalidate();
        fail(cudaErrorStreamCaptureUnsupported, "the legacy default stream cannot join a capture");
    }
    recorder->join(stream, record->front);
    stream.set_capture(recorder);
    return true;
}

} // namespace cudart_cpu::detail
