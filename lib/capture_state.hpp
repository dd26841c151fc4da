// The state behind StreamCapture: a capture under way, and its way back at any point.
#pragma once

#include "capture_names.hpp"
#include "cuda_log.hpp"
#include "failure.hpp"

#include <cudag/capture_mode.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// What is being done with a capture, for the error text.
struct CaptureCall {
    std::string_view name; ///< "step"
    std::string_view label = {};
    SourceLocation location = {};
};

class CaptureState {
  public:
    /// Begins to capture `stream`: into a graph of its own, or into `into`, behind the nodes that this has.
    /// Throws CaptureError.
    CaptureState(cudaStream_t stream, CaptureMode mode, const SourceLocation& location, cudaGraph_t into = nullptr);
    /// Ends the capture if it has not ended; a graph of its own goes with it.
    ~CaptureState();
    CaptureState(const CaptureState&) = delete;
    CaptureState& operator=(const CaptureState&) = delete;

    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
    [[nodiscard]] const SourceLocation& location() const noexcept { return location_; }
    [[nodiscard]] CaptureNames& names() noexcept { return *names_; }
    [[nodiscard]] std::vector<std::shared_ptr<const void>>& owners() noexcept { return owners_; }

    [[nodiscard]] CaptureStatus status() const;
    /// How many nodes the graph has. Throws CaptureError, about `call`, unless the capture stands.
    [[nodiscard]] std::uint32_t node_count(const CaptureCall& call) const;

    void fork(cudaStream_t other, const SourceLocation& location);
    void join(cudaStream_t other, const SourceLocation& location);

    /// Whether this has ended it, well or not.
    [[nodiscard]] bool has_ended() const noexcept { return ended_; }
    /// Whether the graph was there before the capture.
    [[nodiscard]] bool is_into_another() const noexcept { return into_another_; }
    /// Whether a stream that `fork` has forked to is still to be joined.
    [[nodiscard]] bool has_unjoined_fork() const noexcept { return !unjoined_.empty(); }
    /// What the stream's next node will come after. Throws CaptureError unless the capture stands.
    [[nodiscard]] std::vector<cudaGraphNode_t> front() const;

    /// Ends the capture if it has not ended, and drops a graph of its own. Whether one that was there before is as it
    /// would be after `end`; else CUDA has destroyed it.
    bool abandon() noexcept;
    /// Ends the capture and returns its graph: the caller's, if it is not the one captured into. Throws CaptureError if
    /// the capture was broken, which has ended then, or is not this thread's.
    [[nodiscard]] cudaGraph_t end();

    /// "capture at f.cpp:12 (thread-local): step "gemm" at f.cpp:14"
    [[nodiscard]] Subject subject(const CaptureCall& call) const;

  private:
    struct Fork {
        SourceLocation location;
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

    /// Throws CaptureError, about `call`, unless the capture stands.
    void require_active(const CaptureCall& call) const;
    /// What broke the capture.
    [[nodiscard]] CaptureError broken(const CaptureCall& call) const;
    /// What `after` records from now on comes after what `before` has recorded.
    void order(cudaStream_t before, cudaStream_t after, const CaptureCall& call) const;
    /// What is not joined, and where it was forked. Asks CUDA nothing: the streams may be gone.
    [[nodiscard]] std::string unjoined_forks() const;

    cudaStream_t stream_;
    CaptureMode mode_;
    SourceLocation location_;
    std::thread::id thread_ = std::this_thread::get_id();
    bool into_another_;
    bool ended_ = true;
    unsigned long long id_ = 0;
    cudaGraph_t graph_ = nullptr; ///< CUDA's until the capture has ended
    mutable LogPosition logged_;  ///< when the capture was last seen to stand
    std::optional<CaptureNames> names_;
    std::vector<Fork> forks_;
    std::unordered_map<cudaStream_t, std::size_t> unjoined_; ///< the last fork to a stream that is still to be joined
    std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cudag::detail
