// Owners that an Exec's updates brought in, kept until the launches that may use them have finished.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <list>
#include <memory>
#include <utility>

namespace cudag::detail {

/// A CUDA event after a launch.
class LaunchMarker;

/// The owners of one version of a node's parameters; once it is replaced, the last launch that may use them.
struct OwnerVersion {
    Owners owners;
    std::shared_ptr<LaunchMarker> last_use;
};
/// None or one: a list, because moving its element to another list cannot fail.
using OwnerVersions = std::list<OwnerVersion>;
[[nodiscard]] OwnerVersions version_of(Owners&& owners);

/// CUDA attaches user objects to graphs, not to execs, so an Exec tracks its launches by events; only once an update
/// has brought an owner in, so that other Execs pay nothing.
class InFlight {
  public:
    /// From now on launches are tracked.
    void begin_tracking() noexcept { tracks_ = true; }
    [[nodiscard]] bool tracks() const noexcept { return tracks_; }

    /// A marker for a launch in `stream`, or null where that of the launch before will do; throws Error if CUDA cannot
    /// make one. Give it to `launched` once the launch has succeeded, and drop it otherwise.
    [[nodiscard]] std::shared_ptr<LaunchMarker> marker(cudaStream_t stream) const;
    void launched(std::shared_ptr<LaunchMarker>&& marker, cudaStream_t stream) noexcept;
    /// Whether a launch that was tracked may not have finished.
    [[nodiscard]] bool is_running() const noexcept;
    /// Waits for these.
    void wait() const noexcept;

    /// Drops `version`: at once if there was no launch, else by the first `reclaim` after the launches made so far have
    /// finished.
    void retire(OwnerVersions&& version) const noexcept {
        if (!version.empty()) [[unlikely]]
            retire_owners(std::move(version));
    }

  private:
    void retire_owners(OwnerVersions&& version) const noexcept;

    std::shared_ptr<LaunchMarker> last_launch_;
    bool tracks_ = false;
};

[[nodiscard]] bool has_retired_owners() noexcept;
/// Destroys the retired owners whose last launch has finished. Asks CUDA about one launch that has not for each stream
/// that has such launches, however many these are.
void drop_retired_owners() noexcept;

} // namespace cudag::detail
