// The state behind StreamCapture: a capture under way, and its way back at any point.
#pragma once

#include "capture_by_number.hpp"
#include "capture_records.hpp"
#include "cuda/cuda_log.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/open_captures.hpp"
#include "owners/capture_owners.hpp"
#include "read/capture_names.hpp"
#include "stream/captured_launches.hpp"
#include "stream/stream_order.hpp"

#include <cudag/capture_mode.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream_capture.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// A call on a capture, for its error text.
struct CaptureCall {
    std::string_view name; ///< "step"
    std::string_view label = {};
    SourceLocation location = {};
};

/// The end of a capture.
enum class CaptureEnd {
    well,
    badly,     ///< CUDA has destroyed the graph captured into
    elsewhere, ///< by other code, well or badly
};

/// The code that ends a capture, and has its graph.
enum class CaptureHost {
    self,    ///< the StreamCapture
    builder, ///< a GraphBuilder, whose graph is older than the capture
    other,   ///< code without cudag
};

class CaptureState {
  public:
    /// Begins to capture `stream`: into a graph of its own, or into `into`, behind its `nodes` nodes. Throws
    /// CaptureError.
    CaptureState(cudaStream_t stream, const CaptureOptions& options, const SourceLocation& location,
                 std::shared_ptr<GraphState> into = nullptr, std::uint32_t nodes = 0);
    /// Joins the capture of `stream` by other code. Throws CaptureError.
    struct Existing {};
    CaptureState(Existing, cudaStream_t stream, const CaptureOptions& options, const SourceLocation& location);
    /// Ends the capture if it has not ended, and destroys a graph of its own.
    ~CaptureState();
    CaptureState(const CaptureState&) = delete;
    CaptureState& operator=(const CaptureState&) = delete;

    /// Begins the next capture of the same stream, with the same options, after this one has ended. Throws
    /// CaptureError.
    [[nodiscard]] std::unique_ptr<CaptureState> next() const;

    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] const SourceLocation& location() const noexcept { return location_; }
    [[nodiscard]] CaptureNames& names() noexcept { return *names_; }
    /// The owners kept by the capture, and those brought by captured work.
    [[nodiscard]] std::vector<std::shared_ptr<const void>>& owners();
    /// Returns the known effects of the kernels that cudag has launched into the capture since the last call.
    [[nodiscard]] std::vector<CapturedLaunch> launches() {
        return launches_ ? launches_->take() : std::vector<CapturedLaunch>();
    }
    /// Keeps `owner` with the graph. Any thread may call it. Throws GraphError if CUDA, for other code, rejects it.
    void keep(std::shared_ptr<const void> owner);

    [[nodiscard]] CaptureStatus status() const;
    /// The number of nodes in the graph. Throws CaptureError, about `call`, unless the capture stands.
    [[nodiscard]] std::uint32_t node_count(const CaptureCall& call) const;

    /// Throws CaptureError, about `call`, if a call on the capturing thread has failed since the last check, and nobody
    /// has read its error. `when` is "before this step, " or empty.
    void require_errors_read(const CaptureCall& call, const char* when = "") const;
    /// Throws CaptureError, about `call`, if CUDA has refused calls on this thread since the last check because of the
    /// capture, but has left it alive; unless refusals are allowed. `when` is "before this step, " or empty.
    void require_no_refused_calls(const CaptureCall& call, const char* when = "");
    [[nodiscard]] bool allows_refused_calls() const noexcept { return allows_refused_calls_; }
    void allow_refused_calls(bool is_allowed) noexcept { allows_refused_calls_ = is_allowed; }
    /// Throws CaptureError, about `call`, if work that would have bypassed the capture was refused, and its caller has
    /// swallowed the error.
    void require_nothing_passed(const CaptureCall& call);
    /// Throws CaptureError, about the step `call`, if the step must have work but has none.
    void require_work(const CaptureCall& call, bool has_work) const;
    /// Throws CaptureError, about `call`, if the capture must have no graph memory nodes, but has one from number
    /// `first` on. Needs an active capture.
    void require_no_memory_nodes(const CaptureCall& call, std::uint32_t first) const;
    /// Returns the error that broke the capture before `error` was thrown; nothing if `error` reports it, or if the
    /// capture stands.
    [[nodiscard]] std::optional<CaptureError> broken_before(const Error& error, const CaptureCall& call) const;
    /// Throws CaptureError if the capture has ended well with `count` nodes, but must not be empty.
    void require_nodes(std::size_t count);
    /// Whether `require_nodes` has thrown.
    [[nodiscard]] bool recorded_nothing() const noexcept { return recorded_nothing_; }
    /// Throws CaptureError, about `call`, unless the capture stands.
    void require_active(const CaptureCall& call) const;
    /// Throws CaptureError if the capture's owner has ended it.
    void require_unfinished(const CaptureCall& call) const;

    /// The number of forks and joins. Any thread may call it.
    [[nodiscard]] std::size_t orders();
    /// The capture as known to the thread that began it.
    [[nodiscard]] OpenCapture& open() noexcept { return *open_; }

    /// Any thread may call these two.
    void fork(cudaStream_t other, const SourceLocation& location);
    void join(cudaStream_t other, const SourceLocation& location);

    /// The records of the capture so far, for writing nodes in between. The first call makes them, and closes the graph
    /// to all other writers. Throws GraphError.
    [[nodiscard]] CaptureRecords& records();
    /// Returns null before the first call of `records`.
    [[nodiscard]] CaptureRecords* known_records() noexcept { return records_ ? &*records_ : nullptr; }
    /// Makes the next node of `stream`, which is in the capture, depend on `nodes`. Throws CaptureError.
    void continue_after(std::vector<cudaGraphNode_t>&& nodes, const CaptureCall& call, cudaStream_t stream) const;
    /// Prevents a good end: nodes written at `where` cannot stay, and CUDA removes them only after the capture's end.
    void spoil(const SourceLocation& where) noexcept;
    [[nodiscard]] bool is_spoiled() const noexcept { return spoiled_at_.has_value(); }

    /// Whether the capture is known to have ended.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.has_value(); }
    [[nodiscard]] CaptureHost host() const noexcept { return host_; }
    /// Whether a stream forked by `fork` is still to be joined.
    [[nodiscard]] bool has_unjoined_fork() const noexcept { return !unjoined_.empty(); }
    /// Returns the front of a stream in the capture: the nodes that its next node will depend on. Throws CaptureError
    /// unless the capture stands.
    [[nodiscard]] std::vector<cudaGraphNode_t> front(cudaStream_t stream) const;

    /// Ends the capture if it has not ended, and destroys a graph of its own; or leaves it to other code.
    CaptureEnd abandon() noexcept;
    /// Ends the capture and returns its graph, owned by the caller unless it was captured into. Throws CaptureError if
    /// the capture was broken or an error is unread, and ends the capture; or, without ending it, on a thread that may
    /// not end it. A capture of other code goes on; nor is it left if a stream forked by `fork` is still to be joined.
    [[nodiscard]] cudaGraph_t end(const CaptureCall& call = {"finish"});
    /// Allows work in the legacy default stream to run immediately.
    void allow_legacy_stream() noexcept;
    /// Marks a graph of its own as destroyed, for its handles. Call when it is gone, or about to go.
    void lose_own_graph() noexcept;
    /// The front at the end of the capture.
    [[nodiscard]] std::vector<cudaGraphNode_t>& last_front() noexcept { return last_front_; }

    /// Returns "capture at f.cpp:12 (thread-local): step "gemm" at f.cpp:14".
    [[nodiscard]] Subject subject(const CaptureCall& call) const;

  private:
    struct Fork {
        SourceLocation location;
        std::string step; ///< " in step "gemm" at f.cpp:14"; empty outside of steps
        cudaStream_t stream;
        bool joined = false;
        std::size_t before; ///< the fork to the same stream before this one, if unjoined; else `no_fork`
    };
    static constexpr auto no_fork = std::numeric_limits<std::size_t>::max();

    /// The capture of a stream, as reported by CUDA.
    struct Info {
        CaptureStatus status = CaptureStatus::none;
        unsigned long long id = 0;
        cudaGraph_t graph = nullptr;
    };
    [[nodiscard]] Info info(cudaStream_t stream) const;

    /// Describes the mode: "thread-local", "joined".
    [[nodiscard]] const char* how() const noexcept;
    /// Throws CaptureError if the capture was spoiled.
    void require_unspoiled(const CaptureCall& call) const;
    /// Whether other code has ended the capture, as far as can be known.
    [[nodiscard]] bool is_gone() const noexcept;
    /// Returns the error that broke the capture. Clears CUDA's last error.
    [[nodiscard]] CaptureError broken(const CaptureCall& call, std::string_view thrown_after = {}) const;
    /// Orders later work in `after` behind the work recorded in `before`.
    void order(cudaStream_t before, cudaStream_t after, const CaptureCall& call);
    /// Describes the unjoined streams and their forks; `work` is the unjoined work, if known. Asks CUDA nothing: the
    /// streams may be gone.
    [[nodiscard]] std::string unjoined_forks(std::string_view work) const;
    void set_ended(CaptureEnd end) noexcept {
        ended_ = end;
        by_number_.reset();
        if (open_) open_->end();
    }

    std::mutex mutex_; ///< for the parts open to any thread: forks, owners
    cudaStream_t stream_;
    CaptureOptions options_;
    SourceLocation location_;
    std::thread::id thread_ = std::this_thread::get_id();
    CaptureHost host_;
    std::shared_ptr<GraphState> into_; ///< of a GraphBuilder; else null
    std::uint32_t natives_before_;     ///< the number of nodes in the graph before
    bool recorded_nothing_ = false;
    UniqueStream blocking_; ///< in the capture, so CUDA refuses the legacy stream; null if not requested
    std::optional<CaptureEnd> ended_ = CaptureEnd::well; ///< before it has begun
    unsigned long long id_ = 0;
    cudaGraph_t graph_ = nullptr; ///< owned by CUDA until the capture has ended
    std::vector<cudaGraphNode_t> last_front_;
    mutable LogPosition logged_; ///< where the capture last stood without an unread error
    mutable cudaError_t stale_;  ///< the last error left unread before the capture
    std::optional<CaptureNames> names_;
    std::optional<CapturedLaunches> launches_;
    std::optional<CaptureOwners> captured_owners_;
    std::optional<CaptureRecords> records_;
    std::optional<SourceLocation> spoiled_at_;
    std::optional<OpenCapture> open_;
    std::optional<CaptureByNumber> by_number_;
    std::size_t orders_ = 0; ///< number of forks and joins
    StreamOrders stream_orders_;
    LogPosition refusals_read_; ///< up to where the log was searched for refused calls
    bool allows_refused_calls_;
    bool allows_legacy_stream_ = false;
    std::vector<Fork> forks_;
    std::unordered_map<cudaStream_t, std::size_t> unjoined_; ///< the last fork to each stream still to be joined
    std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cudag::detail
