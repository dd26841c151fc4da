// Stream capture: operations given to a stream become nodes of a graph.
#pragma once

#include "graph/graph_model.hpp"
#include "stream/stream.hpp"

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace cudart_cpu::detail {

class Event;

/// What comes next depends on these nodes.
struct CaptureFront {
    std::vector<cudaGraphNode_t> nodes;
    std::vector<cudaGraphEdgeData> data;                       // of the edges from them, at the same places
    std::unordered_map<cudaGraphNode_t, std::size_t> places{}; // of the first of `nodes`, once there are many

    /// Two different edges from one node become one that waits for both.
    void add(cudaGraphNode_t node, const cudaGraphEdgeData& edge);
    void add(const CaptureFront& other);
    /// Their number if it is none of them.
    std::size_t place_of(cudaGraphNode_t node);
};

/// One capture sequence, from its begin to its end. Guarded by graph_mutex(), as all functions below that take no lock.
class Capture {
  public:
    /// `makes_graph`: nobody has had the graph before.
    Capture(Stream& origin, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph, bool makes_graph);

    Stream& origin() const noexcept { return origin_; }
    cudaStreamCaptureMode mode() const noexcept { return mode_; }
    /// Whether the calling thread has begun it.
    bool is_of_this_thread() const noexcept;
    unsigned long long id() const noexcept { return id_; }
    const std::shared_ptr<Graph>& graph() const noexcept { return graph_; }
    bool makes_graph() const noexcept { return makes_graph_; }

    bool is_valid() const noexcept { return is_valid_; }
    void invalidate() noexcept { is_valid_ = false; }

    /// The streams in it.
    const std::unordered_map<Stream*, CaptureFront>& members() const noexcept { return members_; }
    CaptureFront& front_of(Stream& member) { return members_.at(&member); }
    void join(Stream& stream, const CaptureFront& front);
    /// What the stream has done must be joined all the same.
    void leave(Stream& stream);
    /// Whether the origin comes after all that the other streams have done.
    bool is_joined() const;

    /// What comes before the next node of a stream in it.
    std::vector<Node*> before(Stream& member);
    /// Adds the next node of a stream in it. `data`: of the edges from before().
    Node& add(Stream& member, NodeContent content, const std::vector<cudaGraphEdgeData>& data);

  private:
    Stream& origin_;
    cudaStreamCaptureMode mode_;
    unsigned long long thread_;
    unsigned long long id_;
    std::shared_ptr<Graph> graph_;
    bool makes_graph_;
    bool is_valid_ = true;
    std::unordered_map<Stream*, CaptureFront> members_;
    CaptureFront left_; // of streams that were destroyed
};

/// What an event stands for that was recorded in a capture.
struct CapturedRecord {
    std::weak_ptr<Capture> capture;
    CaptureFront front;
};

/// Those in progress, also invalidated ones.
const std::vector<std::shared_ptr<Capture>>& captures();
/// Whether there may be any; takes no lock.
bool is_any_capture() noexcept;

/// The stream must not be in a capture.
void begin_capture(const std::shared_ptr<Capture>& capture, const CaptureFront& front);
/// All its streams leave it. Its graph stays.
void end_capture(const std::shared_ptr<Capture>& capture) noexcept;
/// The same, but destroys the graph, also one that it did not make.
void drop_capture(const std::shared_ptr<Capture>& capture) noexcept;

/// Throws cudaErrorStreamCaptureImplicit for a legacy stream that would wait for a capture.
cudaStreamCaptureStatus capture_status_of(const Stream& stream);
/// The capture that the stream is in, if it can take more; null if it is in none. Throws
/// cudaErrorStreamCaptureInvalidated, and cudaErrorStreamCaptureImplicit for a legacy stream that would wait for one.
std::shared_ptr<Capture> active_capture_of(Stream& stream);
/// Null if it is not in progress, or invalid.
std::shared_ptr<Capture> active_capture_of(const CapturedRecord& record);

/// Whether the stream is in a capture that can take more. Throws as active_capture_of. Takes the lock.
bool is_capturing(Stream& stream);

/// What the node for an operation is made of; `before` is what it comes after.
using MakeNode = std::function<NodeContent(const Graph& target, const std::vector<Node*>& before)>;

/// The seam of every operation given to a stream, but of launches, which have a say in their edges. If the stream
/// captures, adds a node and is true: then nothing must be enqueued. Takes the lock.
bool captured(Stream& stream, const MakeNode& make);

/// An event's record in `stream`, and a wait for it. Is true if it belongs to a capture. Take the lock.
bool captured_record(Event& event, Stream& stream);
bool captured_wait(Stream& stream, const Event& event);

} // namespace cudart_cpu::detail
