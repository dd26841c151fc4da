// The state of one rank of a communicator.
#pragma once

#include "nccl_library.hpp"

#include <cudag/nccl.hpp>
#include <cudag/stream.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace cudag::nccl::detail {

/// Throws NcclError if `result` of the NCCL function `call` is not success. `comm` may be null.
void check_nccl(int result, const char* call, ncclComm* comm, const std::string& subject, const SourceLocation& where);

/// Destroys a communicator; tells a failure on stderr.
struct DestroyComm {
    void operator()(ncclComm* comm) const noexcept;
};

/// A communicator of NCCL's that cudag has made.
using OwnedComm = std::unique_ptr<ncclComm, DestroyComm>;

/// A communicator. Graphs keep it alive: NCCL waits, in its destruction, for the graphs that it has captured.
class NcclComm {
  public:
    NcclComm(OwnedComm owned, const SourceLocation& where) : NcclComm(owned.get(), where) { owned_ = std::move(owned); }
    NcclComm(ncclComm* borrowed, const SourceLocation& where);
    ~NcclComm();
    NcclComm(const NcclComm&) = delete;
    NcclComm& operator=(const NcclComm&) = delete;

    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int ranks() const noexcept { return ranks_; }
    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] bool is_aborted() const noexcept { return is_aborted_; }
    /// Throws GraphError after `abort`.
    [[nodiscard]] ncclComm* get() const;
    /// A stream of the communicator's device, for captures. The caller has locked `mutex`, and made the device current.
    [[nodiscard]] cudaStream_t capture_stream();
    /// NCCL allows one thread at a time.
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    /// Waits until calls under way on a non-blocking communicator are complete. Throws NcclError.
    void finish_call(const char* call, const std::string& subject, const SourceLocation& where) const;

    void abort();

  private:
    ncclComm* comm_;
    OwnedComm owned_; ///< null for a borrowed one
    int rank_ = 0;
    int ranks_ = 0;
    int device_ = 0;
    std::mutex mutex_;
    std::unique_ptr<Stream> stream_;
    std::atomic<bool> is_aborted_ = false;
    std::thread aborting_; ///< NCCL's abort also waits for graphs
};

/// Reaches the private parts of the handles.
struct NcclAccess {
    [[nodiscard]] static const std::shared_ptr<NcclComm>& state(const Communicator& comm) noexcept {
        return comm.state_;
    }
    [[nodiscard]] static Communicator communicator(std::shared_ptr<NcclComm> state) noexcept {
        return Communicator(std::move(state));
    }
    [[nodiscard]] static Operation operation(std::vector<NcclCall>&& calls, std::string&& label) {
        Operation made;
        made.calls_ = std::move(calls);
        made.label_ = std::move(label);
        return made;
    }
};

} // namespace cudag::nccl::detail
