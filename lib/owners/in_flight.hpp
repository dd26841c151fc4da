// The owners kept by an Exec until the launches that may use them have finished.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace cudag::detail {

/// A marker of the end of a launch.
class LaunchMarker;

/// The owners of one version of a node's parameters; after its replacement, with the last launch that may use them.
struct OwnerVersion {
    Owners owners;
    std::shared_ptr<LaunchMarker> last_use;
};
/// Zero or one version: a list, because moving its element to another list cannot fail.
using OwnerVersions = std::list<OwnerVersion>;
[[nodiscard]] OwnerVersions version_of(Owners&& owners);

/// The choice of launches to mark. CUDA's user objects would keep owners, too, but then each launch costs about twice
/// as much.
enum class Marking : std::uint8_t {
    off,
    at_end, ///< launches in Streams; for others, only their existence is recorded, and the Exec's end marks them
    each,   ///< all launches; in streams without a clock, by an event after each
};

/// A mark from which the end of a launch can be seen.
struct LaunchMark {
    std::shared_ptr<LaunchMarker> fresh = nullptr; ///< null: the marker of the previous launch
    bool is_left_to_end = false;
};

/// The launches of one Exec. CUDA runs them one after the other, so the end of the last one implies the end of all.
class InFlight {
  public:
    /// `device`: the device of the exec, or one of its devices.
    explicit InFlight(int device = 0) noexcept : device_(device) {}

    /// Marks each launch from now on: for owners that may be replaced between launches, and for `is_running`.
    void begin_tracking() noexcept { marking_ = Marking::each; }
    /// Lets `end` find the end of all launches from now on: for owners that stay as long as the Exec. Costs next to
    /// nothing for each launch.
    void begin_tracking_end();
    [[nodiscard]] bool tracks() const noexcept { return marking_ != Marking::off; }
    /// Records that others may launch the exec, unseen by cudag. Requires a later call of `end`. Callable from any
    /// thread, but concurrently only with itself.
    void note_handed_out();

    /// Makes the mark of a launch in `stream`; throws Error if CUDA cannot mark it. Pass it to `launched` after the
    /// launch has succeeded; drop it otherwise.
    [[nodiscard]] LaunchMark mark(cudaStream_t stream);
    void launched(LaunchMark&& mark, cudaStream_t stream) noexcept;
    /// Whether a marked launch may be unfinished.
    [[nodiscard]] bool is_running() const noexcept;
    /// Waits for the marked launches.
    void wait() const noexcept;

    /// Drops `version`: immediately if there was no launch, otherwise in the first `reclaim` after all launches so far
    /// have finished. If others may have launched the exec, it waits for the next launch, which runs after theirs, or
    /// for the exec's end.
    void retire(OwnerVersions&& version) noexcept {
        if (!version.empty()) [[unlikely]]
            retire_owners(std::move(version));
    }

    /// Marks all unmarked launches if owners that they may use are kept (`is_kept`). The caller must not launch `exec`
    /// any longer. Returns true if the caller must destroy it; false if a later marking needs it, so that it is
    /// destroyed with the retired owners.
    [[nodiscard]] bool end(cudaGraphExec_t exec, bool is_kept) noexcept;

  private:
    void retire_owners(OwnerVersions&& version) noexcept;
    void wait_for_last(OwnerVersions& versions) const noexcept;

    std::shared_ptr<LaunchMarker> last_launch_;
    OwnerVersions held_;                     ///< may be used by launches of others
    std::shared_ptr<LaunchMarker> end_;      ///< made early, since nothing may fail when it is needed
    cudaStream_t unmarked_stream_ = nullptr; ///< the stream of the last launch, if unmarked
    bool is_unmarked_ = false;               ///< whether the last launch is unmarked
    int device_;
    Marking marking_ = Marking::off;
    std::atomic<bool> is_handed_out_ = false;
};

[[nodiscard]] bool has_retired_owners() noexcept;
/// Destroys the retired owners whose last launch has finished. Queries CUDA about at most one unfinished launch for
/// each stream, however many there are.
void drop_retired_owners() noexcept;

} // namespace cudag::detail
