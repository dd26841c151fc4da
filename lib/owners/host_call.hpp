// Calls host nodes' callables from CUDA's threads, and carries their exceptions to who waits for their launch.
#pragma once

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

/// A host node's function in a graph; `task` points at its HostTask. An exec of cudag's calls `run_host_node` instead,
/// so this one runs in execs that cudag did not make: who launches them cudag does not know, so that it can only print
/// what is thrown.
void CUDART_CB run_host_task(void* task) noexcept;

/// A host node's function in an exec; `run` points at its HostRun.
void CUDART_CB run_host_node(void* run) noexcept;

/// Which stream it is, also once another one has its handle. No stream, if CUDA does not tell.
struct StreamKey {
    cudaStream_t handle = nullptr;
    std::optional<unsigned long long> id = std::nullopt;

    [[nodiscard]] bool is(const StreamKey& other) const noexcept {
        return id && handle == other.handle && id == other.id;
    }
};

/// Which stream a launch is about to go to. Throws Error if CUDA does not tell; no stream, if it is being captured,
/// which the launch refuses by name.
[[nodiscard]] StreamKey launch_target(cudaStream_t stream);

/// Who may ask for what the host nodes of an Exec threw: the Exec. Guarded by the lock of all exceptions.
struct HostClaim {
    bool gone = false;
};

/// The launches of one exec that has host nodes: in which streams they are.
class HostLaunches {
  public:
    /// Where a launch is.
    struct Place {
        StreamKey stream;
        std::uint64_t order; ///< among all launches with host nodes
        bool stream_gone = false;
    };

    explicit HostLaunches(std::shared_ptr<HostClaim> claim);
    ~HostLaunches();
    HostLaunches(const HostLaunches&) = delete;
    HostLaunches& operator=(const HostLaunches&) = delete;

    /// The number of the last launch so far.
    [[nodiscard]] std::uint64_t count() noexcept;
    /// Room for one more launch: `launched` then cannot fail after CUDA has taken it.
    void prepare();
    void launched(const StreamKey& stream) noexcept;

    /// Where launch `number` is; nothing while that is not noted. Call with the lock of all exceptions.
    [[nodiscard]] std::optional<Place> find(std::uint64_t number) const noexcept;
    [[nodiscard]] const std::shared_ptr<HostClaim>& claim() const noexcept { return claim_; }
    /// A host node has run in launch `number`, on any thread: as launches of one exec never overlap, the former ones
    /// have ended.
    void note_run(std::uint64_t number) noexcept;
    /// Before the first launch.
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
    std::vector<Launch> launches_; ///< by number; those that host nodes may still be running in, and some more
};

/// A host node of an exec, as CUDA calls it: once in each launch, which is what tells the launch. Kept as long as a
/// launch may use it, and with its task.
struct HostRun {
    std::shared_ptr<HostLaunches> launches;
    const HostTask* task;
    std::string node; ///< its description
    std::string label;
    SourceLocation location;
    std::atomic<std::uint64_t> launch; ///< the last one before it was in force, or that has run it

    [[nodiscard]] cudaHostNodeParams params() noexcept { return {run_host_node, this}; }
};

[[nodiscard]] inline bool is_host_task(const cudaHostNodeParams& params) noexcept {
    return params.fn == run_host_task;
}

/// Throws HostError if host nodes threw what nobody has seen: in launches in `stream`, or in those of an Exec.
void rethrow_host_failures(cudaStream_t stream);
void rethrow_host_failures(const std::shared_ptr<HostClaim>& claim);

/// The Exec is destroyed: only its streams can tell what its host nodes throw.
void claim_gone(const std::shared_ptr<HostClaim>& claim) noexcept;
/// `stream` is about to be destroyed: only the Execs that were launched in it can tell.
void stream_gone(cudaStream_t stream) noexcept;

} // namespace cudag::detail
