// The owners that an Exec keeps, until the launches that may use them have finished.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
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

/// Which launches of an Exec are marked. CUDA's user objects would keep owners, too, but with one of them each launch
/// costs about twice as much.
enum class Marking : std::uint8_t {
    off,
    at_end, ///< those in Streams; of others only that they were, which the Exec's end marks
    each,   ///< all, in streams without a clock by an event after each
};

/// What will tell when a launch has ended.
struct LaunchMark {
    std::shared_ptr<LaunchMarker> fresh = nullptr; ///< null: that of the launch before
    bool is_left_to_end = false;
};

/// The launches of one Exec, of which CUDA runs one after the other: that the last has ended tells it of all.
class InFlight {
  public:
    /// The exec runs on `device`, or on several.
    explicit InFlight(int device = 0) noexcept : device_(device) {}

    /// From now on each launch is marked: for owners that may be replaced while launches follow, and for who asks
    /// `is_running`.
    void begin_tracking() noexcept { marking_ = Marking::each; }
    /// From now on `end` finds the end of all launches: for owners that stay as long as the Exec. Costs next to nothing
    /// at a launch.
    void begin_tracking_end();
    [[nodiscard]] bool tracks() const noexcept { return marking_ != Marking::off; }
    /// Others may launch the exec, too, when cudag does not see it: of an exec of which `end` will be called. On any
    /// thread, but together with no call but this one.
    void note_handed_out();

    /// For a launch in `stream`; throws Error if CUDA cannot mark it. Give it to `launched` once the launch has
    /// succeeded, and drop it otherwise.
    [[nodiscard]] LaunchMark mark(cudaStream_t stream);
    void launched(LaunchMark&& mark, cudaStream_t stream) noexcept;
    /// Whether a launch that was marked may not have finished.
    [[nodiscard]] bool is_running() const noexcept;
    /// Waits for these.
    void wait() const noexcept;

    /// Drops `version`: at once if there was no launch, else by the first `reclaim` after the launches made so far have
    /// finished. If others may have launched the exec, after the next one has, which comes behind theirs, or its end.
    void retire(OwnerVersions&& version) noexcept {
        if (!version.empty()) [[unlikely]]
            retire_owners(std::move(version));
    }

    /// Marks the launches that are not. There will be none of `exec` any more, which the caller then destroys: false if
    /// it must not, because it is needed to mark them later, and goes with what is retired.
    [[nodiscard]] bool end(cudaGraphExec_t exec) noexcept;

  private:
    void retire_owners(OwnerVersions&& version) noexcept;
    void wait_for_last(OwnerVersions& versions) const noexcept;

    std::shared_ptr<LaunchMarker> last_launch_;
    OwnerVersions held_;                     ///< that launches of others may use
    std::shared_ptr<LaunchMarker> end_;      ///< made in time: when it is needed nothing may fail
    cudaStream_t unmarked_stream_ = nullptr; ///< that of the last launch, which has no mark
    bool is_unmarked_ = false;               ///< whether it has none
    int device_;
    Marking marking_ = Marking::off;
    std::atomic<bool> is_handed_out_ = false;
};

[[nodiscard]] bool has_retired_owners() noexcept;
/// Destroys the retired owners whose last launch has finished. Asks CUDA about one launch that has not for each stream
/// that has such launches, however many these are.
void drop_retired_owners() noexcept;

} // namespace cudag::detail
