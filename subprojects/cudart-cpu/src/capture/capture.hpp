// Stream capture: operations of a stream become nodes of a graph.
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

/// The capture front of a stream: its next node depends on these nodes.
struct CaptureFront {
    std::vector<cudaGraphNode_t> nodes;
    std::vector<cudaGraphEdgeData> data;                       // the data of the edges from `nodes`, at the same places
    std::unordered_map<cudaGraphNode_t, std::size_t> places{}; // an index of the first of `nodes`, once there are many

    /// Merges two different edges from one node into one that waits for both.
    void add(cudaGraphNode_t node, const cudaGraphEdgeData& edge);
    void add(const CaptureFront& other);
    /// Returns the number of nodes if `node` is not among them.
    std::size_t place_of(cudaGraphNode_t node);
};

/// One capture sequence, from its beginning to its end. Guarded by graph_mutex(), like all functions below without a
/// lock of their own.
class Capture {
  public:
    /// `makes_graph`: the graph is new and unknown to the user.
    Capture(Stream& origin, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph, bool makes_graph);

    Stream& origin() const noexcept { return origin_; }
    cudaStreamCaptureMode mode() const noexcept { return mode_; }
    /// Whether the calling thread has begun the capture.
    bool is_of_this_thread() const noexcept;
    unsigned long long id() const noexcept { return id_; }
    const std::shared_ptr<Graph>& graph() const noexcept { return graph_; }
    bool makes_graph() const noexcept { return makes_graph_; }

    bool is_valid() const noexcept { return is_valid_; }
    void invalidate() noexcept { is_valid_ = false; }

    /// The streams in the capture.
    const std::unordered_map<Stream*, CaptureFront>& members() const noexcept { return members_; }
    CaptureFront& front_of(Stream& member) { return members_.at(&member); }
    void join(Stream& stream, const CaptureFront& front);
    /// Removes the stream. Its work must be joined all the same.
    void leave(Stream& stream);
    /// Whether the origin comes after all work of the other streams.
    bool is_joined() const;

    /// The nodes before the next node of a member stream.
    std::vector<Node*> before(Stream& member);
    /// Adds the next node of a member stream. `data` belongs to the edges from before().
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
    CaptureFront left_; // the fronts of destroyed streams
};

/// The record of an event in a capture.
struct CapturedRecord {
    std::weak_ptr<Capture> capture;
    CaptureFront front;
};

/// The captures in progress, including invalidated ones.
const std::vector<std::shared_ptr<Capture>>& captures();
/// Whether there may be a capture; takes no lock.
bool is_any_capture() noexcept;

/// The origin must not be in a capture.
void begin_capture(const std::shared_ptr<Capture>& capture, const CaptureFront& front);
/// Removes all streams from the capture. Its graph stays.
void end_capture(const std::shared_ptr<Capture>& capture) noexcept;
/// Ends the capture and destroys its graph, even if the capture did not make it.
void drop_capture(const std::shared_ptr<Capture>& capture) noexcept;

/// Throws cudaErrorStreamCaptureImplicit if a legacy stream would wait for a capture.
cudaStreamCaptureStatus capture_status_of(const Stream& stream);
/// Returns the capture of the stream; null if there is none. Throws cudaErrorStreamCaptureInvalidated if it takes no
/// more work, and cudaErrorStreamCaptureImplicit if a legacy stream would wait for a capture.
std::shared_ptr<Capture> active_capture_of(Stream& stream);
/// Returns null if the capture has ended or is invalid.
std::shared_ptr<Capture> active_capture_of(const CapturedRecord& record);

/// Whether the stream is in a valid capture. Throws like active_capture_of. Takes the lock.
bool is_capturing(Stream& stream);

/// Makes the content of an operation's node; `before` are the nodes before it.
using MakeNode = std::function<NodeContent(const Graph& target, const std::vector<Node*>& before)>;

/// The seam of every operation of a stream except launches, which choose their edges. If the stream captures, adds a
/// node and returns true: the caller must enqueue nothing then. Takes the lock.
bool captured(Stream& stream, const MakeNode& make);

/// Record an event in `stream`, and wait for it. Return true if it belongs to a capture. Take the lock.
bool captured_record(Event& event, Stream& stream);
bool captured_wait(Stream& stream, const Event& event);

} // namespace cudart_cpu::detail
