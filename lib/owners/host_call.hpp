// Host failures: exceptions of host nodes, carried from CUDA's threads to the next synchronisation.
#pragma once

#include <cudag/detail/host_params.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/host_error.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudag::detail {

/// The function of a host node in a graph; `task` points to its HostTask. Execs of cudag's call `run_host_node`
/// instead, so this one runs in foreign execs only. Their launches are unknown to cudag, so it can only print
/// exceptions.
void CUDART_CB run_host_task(void* task) noexcept;

/// The function of a host node in an exec; `run` points to its HostRun.
void CUDART_CB run_host_node(void* run) noexcept;

/// The identity of a stream, valid even if its handle is reused. No stream if CUDA does not report the id.
struct StreamKey {
    cudaStream_t handle = nullptr;
    std::optional<unsigned long long> id = std::nullopt;

    [[nodiscard]] bool is(const StreamKey& other) const noexcept {
        return id && handle == other.handle && id == other.id;
    }
};

/// The target stream of an imminent launch. No stream if it is being captured: the launch rejects it by name. Throws
/// Error if the query fails.
[[nodiscard]] StreamKey launch_target(cudaStream_t stream);

/// The Exec's claim to the failures of its host nodes. Guarded by the lock of all exceptions.
struct HostClaim {
    bool gone = false;
};

/// The launches of one exec with host nodes, and their streams.
class HostLaunches {
  public:
    /// The place of a launch.
    struct Place {
        StreamKey stream;
        std::uint64_t order; ///< among all launches with host nodes
        bool stream_gone = false;
    };

    explicit HostLaunches(std::shared_ptr<HostClaim> claim);
    ~HostLaunches();
    HostLaunches(const HostLaunches&) = delete;
    HostLaunches& operator=(const HostLaunches&) = delete;

    /// The number of the latest launch.
    [[nodiscard]] std::uint64_t count() noexcept;
    /// Makes room for one more launch: `launched` then cannot fail after CUDA has accepted it.
    void prepare();
    void launched(const StreamKey& stream) noexcept;

    /// The place of launch `number`; nothing until it is recorded. Call with the lock of all exceptions.
    [[nodiscard]] std::optional<Place> find(std::uint64_t number) const noexcept;
    [[nodiscard]] const std::shared_ptr<HostClaim>& claim() const noexcept { return claim_; }
    /// Records, from any thread, a run of a host node in launch `number`. Since launches of one exec never overlap, the
    /// earlier ones have ended.
    void note_run(std::uint64_t number) noexcept;
    /// Call before the first launch.
    void set_claim(std::shared_ptr<HostClaim> claim) noexcept { claim_ = std::move(claim); }
    /// Call with the lock of all exceptions.
    void note_gone(cudaStream_t stream) noexcept;

  private:
    struct Launch {
        std::uint64_t number;
        Place place;
    };
    std::shared_ptr<HostClaim> claim_;
    std::atomic<std::uint64_t> run_ = 0; ///< the last launch in which a host node has run
    std::uint64_t count_ = 0;
    std::vector<Launch> launches_; ///< by number; launches whose host nodes may still be running, and some more
};

/// A host node of an exec, as called by CUDA: once in each launch, so that the calls number the launches. Lives, with
/// its task, as long as a launch may use it.
struct HostRun {
    std::shared_ptr<HostLaunches> launches;
    const HostTask* task;
    std::string node; ///< its description
    std::string label;
    SourceLocation location;
    unsigned sync_mode;
    std::atomic<std::uint64_t> launch; ///< the latest launch that has run it, or before it took effect

    [[nodiscard]] HostParams params() noexcept { return {run_host_node, this, sync_mode}; }
};

[[nodiscard]] inline bool is_host_task(const HostParams& params) noexcept {
    return params.fn == run_host_task;
}

/// Throws HostError if there are unreported host failures, of launches in `stream`, or of an Exec.
void rethrow_host_failures(cudaStream_t stream);
void rethrow_host_failures(const std::shared_ptr<HostClaim>& claim);

/// Records the destruction of the Exec: from then on, only its streams report its host failures.
void claim_gone(const std::shared_ptr<HostClaim>& claim) noexcept;
/// Records the imminent destruction of `stream`: from then on, only the Execs launched in it report their host
/// failures.
void stream_gone(cudaStream_t stream) noexcept;

} // namespace cudag::detail
