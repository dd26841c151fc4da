// Stream capture: operations given to a stream become nodes of a graph.
#pragma once

#include "graph_model.hpp"
#include "stream.hpp"

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
    std::vector<cudaGraphEdgeData> data; // of the edges from them, at the same places

    void add(cudaGraphNode_t node, const cudaGraphEdgeData& edge);
    void add(const CaptureFront& other);
};

/// One capture sequence, from its begin to its end. Guarded by graph_mutex(), as all functions below that take no lock.
class Capture {
  public:
    /// `owns_graph`: the sequence has made the graph, so that nobody wants it if the sequence fails.
    Capture(Stream& origin, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph, bool owns_graph);

    Stream& origin() const noexcept { return origin_; }
    cudaStreamCaptureMode mode() const noexcept { return mode_; }
    /// Whether the calling thread has begun it.
    bool is_of_this_thread() const noexcept;
    unsigned long long id() const noexcept { return id_; }
    const std::shared_ptr<Graph>& graph() const noexcept { return graph_; }
    bool owns_graph() const noexcept { return owns_graph_; }

    cudaStreamCaptureStatus status() const noexcept { return status_; }
    void invalidate() noexcept { status_ = cudaStreamCaptureStatusInvalidated; }

    /// The streams in it.
    const std::unordered_map<Stream*, CaptureFront>& members() const noexcept { return members_; }
    CaptureFront& front_of(Stream& member) { return members_.at(&member); }
    void join(Stream& stream, const CaptureFront& front);
    void leave(Stream& stream) noexcept;
    /// Whether the origin comes after all that the other streams have done.
    bool is_joined() const;

  private:
    Stream& origin_;
    cudaStreamCaptureMode mode_;
    unsigned long long thread_;
    unsigned long long id_;
    std::shared_ptr<Graph> graph_;
    bool owns_graph_;
    cudaStreamCaptureStatus status_ = cudaStreamCaptureStatusActive;
    std::unordered_map<Stream*, CaptureFront> members_;
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
void begin_capture(std::shared_ptr<Capture> capture, const CaptureFront& front);
/// All its streams leave it. Its graph stays.
void end_capture(const std::shared_ptr<Capture>& capture) noexcept;
/// The same; the graph goes too if the sequence has made it.
void drop_capture(const std::shared_ptr<Capture>& capture) noexcept;
/// Throws cudaErrorStreamCaptureImplicit for a legacy stream that would wait for a capture.
cudaStreamCaptureStatus capture_status_of(const Stream& stream);
/// The capture that the stream is in, if it can take more; null if it is in none. Throws
/// cudaErrorStreamCaptureInvalidated, and cudaErrorStreamCaptureImplicit for a legacy stream that would wait for one.
std::shared_ptr<Capture> active_capture_of(Stream& stream);

/// For a stream that goes: its capture can have no end, or lacks what it would have done. Takes the lock.
void leave_capture(Stream& stream) noexcept;

/// What the node for an operation is made of; `before` is what it comes after.
using MakeNode = std::function<NodeContent(const Graph& target, const std::vector<Node*>& before)>;

/// The seam of every operation given to a stream. If the stream captures, adds a node and is true: then nothing must be
/// enqueued. Takes the lock.
bool captured(Stream& stream, const MakeNode& make);
/// The same for who holds the lock.
bool captured_under_lock(Stream& stream, const MakeNode& make);

/// An event's record in `stream`, and a wait for it. Is true if it belongs to a capture. Take the lock.
bool captured_record(Event& event, Stream& stream);
bool captured_wait(Stream& stream, const Event& event);

} // namespace cudart_cpu::detail
