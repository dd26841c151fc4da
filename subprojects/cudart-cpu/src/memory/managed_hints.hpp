// Hints of a program for managed memory: advice and prefetches, page by page.
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

/// The hints for one allocation. Thread-safe.
class ManagedHints {
  public:
    explicit ManagedHints(std::size_t bytes) : bytes_(bytes), parts_{{0, {}}} {}

    /// Changes the hints of all pages with bytes from `begin` to before `end`.
    void change(std::size_t begin, std::size_t end, const std::function<void(PageHints&)>& how);

    /// Returns the hints of all pages with such bytes; consecutive pages may share one entry.
    [[nodiscard]] std::vector<PageHints> of(std::size_t begin, std::size_t end) const;

  private:
    using Parts = std::map<std::size_t, PageHints>;

    /// Returns the part that begins at `at`, cut from its predecessor if necessary. The lock must be held.
    Parts::iterator cut(std::size_t at);

    mutable std::mutex mutex_;
    const std::size_t bytes_;
    Parts parts_; // by first byte; each part ends where the next begins
};

/// A range of managed memory.
struct ManagedRange {
    std::shared_ptr<ManagedHints> hints;
    std::size_t begin; // within its allocation
    std::size_t end;

    void change(const std::function<void(PageHints&)>& how) const { hints->change(begin, end, how); }
    [[nodiscard]] std::vector<PageHints> pages() const { return hints->of(begin, end); }
};

/// Returns the range; throws cudaErrorInvalidValue unless it lies in one managed allocation.
ManagedRange managed_range(const void* pointer, std::size_t bytes);

/// These throw Failure for an unknown place: cudaErrorInvalidDevice if only its number is wrong.
Place place_of(const cudaMemLocation& location);
/// Returns the location of CUDA 12's argument: a device's number, or cudaCpuDeviceId.
cudaMemLocation location_of(int device);

} // namespace cudart_cpu::detail
