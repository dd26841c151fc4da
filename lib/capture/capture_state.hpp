// The state behind StreamCapture: a capture under way, and its way back at any point.
#pragma once

#include "capture_records.hpp"
#include "cuda/cuda_log.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/open_captures.hpp"
#include "owners/capture_owners.hpp"
#include "read/capture_names.hpp"
#include "stream/captured_launches.hpp"

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

/// What is being done with a capture, for the error text.
struct CaptureCall {
    std::string_view name; ///< "step"
    std::string_view label = {};
    SourceLocation location = {};
};

/// How a capture ended.
enum class CaptureEnd {
    well,
    badly,     ///< CUDA has destroyed what was captured into
    elsewhere, ///< by somebody else's call, whether well or badly
};

class CaptureState {
  public:
    /// Begins to capture `stream`: into a graph of its own, or into `into`, behind the nodes that this has.
    /// `nodes` is how many these are. Throws CaptureError.
    CaptureState(cudaStream_t stream, const CaptureOptions& options, const SourceLocation& location,
                 std::shared_ptr<GraphState> into = nullptr, std::uint32_t nodes = 0);
    /// Ends the capture if it has not ended; a graph of its own goes with it.
    ~CaptureState();
    CaptureState(const CaptureState&) = delete;
    CaptureState& operator=(const CaptureState&) = delete;

    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] const SourceLocation& location() const noexcept { return location_; }
    [[nodiscard]] CaptureNames& names() noexcept { return *names_; }
    /// What the capture keeps, and what captured work has brought in.
    [[nodiscard]] std::vector<std::shared_ptr<const void>>& owners();
    /// What is known of the kernels that cudag has launched into it since the last time.
    [[nodiscard]] std::vector<CapturedLaunch> launches() { return launches_->take(); }
    /// By any thread.
    void keep(std::shared_ptr<const void> owner);

    [[nodiscard]] CaptureStatus status() const;
    /// How many nodes the graph has. Throws CaptureError, about `call`, unless the capture stands.
    [[nodiscard]] std::uint32_t node_count(const CaptureCall& call) const;

    /// Throws CaptureError, about `call`, if a call on the thread that captures has failed since the last time, and
    /// nobody has read its error. `when` is "before this step, " or empty.
    void require_errors_read(const CaptureCall& call, const char* when = "") const;
    /// Throws CaptureError, about `call`, if CUDA has refused calls on this thread since the last time because of the
    /// capture, but has left it alive; unless that is allowed. `when` is "before this step, " or empty.
    void require_no_refused_calls(const CaptureCall& call, const char* when = "");
    [[nodiscard]] bool allows_refused_calls() const noexcept { return allows_refused_calls_; }
    void allow_refused_calls(bool is_allowed) noexcept { allows_refused_calls_ = is_allowed; }
    /// Throws CaptureError, about `call`, if work was refused that would have gone past the capture, and whoever sent
    /// it has swallowed that error.
    void require_nothing_passed(const CaptureCall& call);
    /// Throws CaptureError, about the step `call`, if it has no work although it must.
    void require_work(const CaptureCall& call, bool has_work) const;
    /// What broke the capture, if `error`, which was thrown afterwards, does not tell it; none if the capture stands.
    [[nodiscard]] std::optional<CaptureError> broken_before(const Error& error, const CaptureCall& call) const;
    /// Throws CaptureError for a capture that has ended well with `count` nodes, if it may not be empty.
    void require_nodes(std::size_t count);
    /// Whether that has thrown.
    [[nodiscard]] bool recorded_nothing() const noexcept { return recorded_nothing_; }
    /// Throws CaptureError, about `call`, unless the capture stands.
    void require_active(const CaptureCall& call) const;
    /// Throws CaptureError unless the capture is yet to be ended by its owner.
    void require_unfinished(const CaptureCall& call) const;

    /// How many forks and joins there were. By any thread.
    [[nodiscard]] std::size_t orders();
    /// What the thread that began the capture knows of it.
    [[nodiscard]] OpenCapture& open() noexcept { return *open_; }

    /// By any thread.
    void fork(cudaStream_t other, const SourceLocation& location);
    void join(cudaStream_t other, const SourceLocation& location);

    /// What it has recorded so far, for those who write nodes in between: made at the first call, which lets nobody
    /// else write into the graph. Throws GraphError.
    [[nodiscard]] CaptureRecords& records();
    /// Null before that.
    [[nodiscard]] CaptureRecords* known_records() noexcept { return records_ ? &*records_ : nullptr; }
    /// What the stream records next comes after `nodes`. Throws CaptureError.
    void continue_after(std::vector<cudaGraphNode_t>&& nodes, const CaptureCall& call) const;
    /// The capture cannot end well any more: at `where` nodes were written that cannot stay, and that CUDA removes only
    /// when it has ended.
    void spoil(const SourceLocation& where) noexcept { spoiled_at_ = where; }
    [[nodiscard]] bool is_spoiled() const noexcept { return spoiled_at_.has_value(); }

    /// Whether it is known to have ended.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.has_value(); }
    /// Whether the graph was there before the capture.
    [[nodiscard]] bool is_into_another() const noexcept { return into_ != nullptr; }
    /// Whether a stream that `fork` has forked to is still to be joined.
    [[nodiscard]] bool has_unjoined_fork() const noexcept { return !unjoined_.empty(); }
    /// What the stream's next node will come after. Throws CaptureError unless the capture stands.
    [[nodiscard]] std::vector<cudaGraphNode_t> front() const;

    /// Ends the capture if it has not ended, and drops a graph of its own.
    CaptureEnd abandon() noexcept;
    /// Ends the capture and returns its graph: the caller's, if it is not the one captured into. Throws CaptureError if
    /// the capture was broken or an error is unread, and has ended it then, or if it is not this thread's.
    [[nodiscard]] cudaGraph_t end();
    /// A graph of its own is gone, or about to go: who knows it is told.
    void lose_own_graph() noexcept;
    /// What the stream's next node would have come after when the capture ended.
    [[nodiscard]] std::vector<cudaGraphNode_t>& last_front() noexcept { return last_front_; }

    /// "capture at f.cpp:12 (thread-local): step "gemm" at f.cpp:14"
    [[nodiscard]] Subject subject(const CaptureCall& call) const;

  private:
    struct Fork {
        SourceLocation location;
        std::string step; ///< " in step "gemm" at f.cpp:14"; empty outside of steps
        cudaStream_t stream;
        bool joined = false;
        std::size_t before; ///< the fork to the same stream before this one, if that is not joined; else `no_fork`
    };
    static constexpr auto no_fork = std::numeric_limits<std::size_t>::max();

    /// What CUDA says about a stream.
    struct Info {
        CaptureStatus status = CaptureStatus::none;
        unsigned long long id = 0;
        cudaGraph_t graph = nullptr;
    };
    [[nodiscard]] Info info(cudaStream_t stream) const;

    /// Throws CaptureError if the capture was spoiled.
    void require_unspoiled(const CaptureCall& call) const;
    /// Whether somebody else has ended the capture, as far as can be told.
    [[nodiscard]] bool is_gone() const noexcept;
    /// What broke the capture. Takes the last error.
    [[nodiscard]] CaptureError broken(const CaptureCall& call, std::string_view thrown_after = {}) const;
    /// What `after` records from now on comes after what `before` has recorded.
    void order(cudaStream_t before, cudaStream_t after, const CaptureCall& call) const;
    /// What is not joined, and where it was forked; `work` is what nothing waits for, if it is known. Asks CUDA
    /// nothing: the streams may be gone.
    [[nodiscard]] std::string unjoined_forks(std::string_view work) const;
    void set_ended(CaptureEnd end) noexcept {
        ended_ = end;
        if (open_) open_->end();
    }

    std::mutex mutex_; ///< of what any thread may do: forks, owners
    cudaStream_t stream_;
    CaptureOptions options_;
    SourceLocation location_;
    std::thread::id thread_ = std::this_thread::get_id();
    std::shared_ptr<GraphState> into_; ///< null for a graph of its own
    std::uint32_t natives_before_;     ///< how many nodes that had
    bool recorded_nothing_ = false;
    UniqueStream blocking_; ///< in the capture to make CUDA refuse the legacy stream; null if that is not asked for
    std::optional<CaptureEnd> ended_ = CaptureEnd::well; ///< for want of a beginning
    unsigned long long id_ = 0;
    cudaGraph_t graph_ = nullptr; ///< CUDA's until the capture has ended
    std::vector<cudaGraphNode_t> last_front_;
    mutable LogPosition logged_; ///< when the capture was last seen to stand, and no error was unread
    mutable cudaError_t stale_;  ///< the last error that nobody had read before the capture
    std::optional<CaptureNames> names_;
    std::optional<CapturedLaunches> launches_;
    std::optional<CaptureOwners> captured_owners_;
    std::optional<CaptureRecords> records_;
    std::optional<SourceLocation> spoiled_at_;
    std::optional<OpenCapture> open_;
    std::size_t orders_ = 0;
    LogPosition refusals_read_; ///< up to where the log was searched for refused calls
    bool allows_refused_calls_;
    std::vector<Fork> forks_;
    std::unordered_map<cudaStream_t, std::size_t> unjoined_; ///< the last fork to a stream that is still to be joined
    std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cudag::detail
