// What a program wishes of managed memory: advice and prefetches, page by page.
#pragma once

#include "runtime/device_model.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

/// A device, or the host, or one of its NUMA nodes.
struct Place {
    int type; // a cudaMemLocationType
    int id;

    bool operator==(const Place&) const = default;
};

struct PageHints {
    bool is_read_mostly = false;
    std::optional<Place> preferred{};
    std::optional<Place> prefetched{};
    std::array<bool, max_devices> accessed_by{};
    bool is_accessed_by_host = false;
};

/// Of one allocation. Thread-safe.
class ManagedHints {
  public:
    explicit ManagedHints(std::size_t bytes) : bytes_(bytes), parts_{{0, {}}} {}

    /// Changes those of the pages that have bytes from `begin` to before `end`.
    void change(std::size_t begin, std::size_t end, const std::function<void(PageHints&)>& how);

    /// Those of the pages that have such bytes; pages that follow each other may share one entry.
    [[nodiscard]] std::vector<PageHints> of(std::size_t begin, std::size_t end) const;

  private:
    using Parts = std::map<std::size_t, PageHints>;

    /// The part that begins at `at`, which is cut from the one before if need be. The lock must be held.
    Parts::iterator cut(std::size_t at);

    mutable std::mutex mutex_;
    const std::size_t bytes_;
    Parts parts_; // by where they begin; each ends where the next begins
};

/// A range of managed memory.
struct ManagedRange {
    std::shared_ptr<ManagedHints> hints;
    std::size_t begin; // within its allocation
    std::size_t end;

    void change(const std::function<void(PageHints&)>& how) const { hints->change(begin, end, how); }
    [[nodiscard]] std::vector<PageHints> pages() const { return hints->of(begin, end); }
};

/// Throws cudaErrorInvalidValue unless it lies in one managed allocation.
ManagedRange managed_range(const void* pointer, std::size_t bytes);

/// These throw Failure for what is no place: cudaErrorInvalidDevice if only its number is wrong.
Place place_of(const cudaMemLocation& location);
/// As CUDA 12 names it: a device's number, or cudaCpuDeviceId.
cudaMemLocation location_of(int device);

} // namespace cudart_cpu::detail
