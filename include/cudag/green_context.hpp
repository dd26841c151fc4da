// GreenContext, a part of a device's multiprocessors: for branches of graphs, and for streams.
#pragma once

#include <cudag/config.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct CUctx_st;

namespace cudag {

namespace detail {
class GreenContextState;
}

/// The sharing of the queues through which the GPU gets its work.
enum class WorkqueueScope {
    device,   ///< all contexts share all queues
    balanced, ///< green contexts with this scope share no queues, if there are enough
};

/// The queues of a green context. Needs a driver of CUDA 13.1.
struct WorkqueueConfig {
    /// The greatest number of streams, or branches of a graph, expected to run at once. At least 1.
    unsigned concurrency = 1;
    WorkqueueScope scope = WorkqueueScope::balanced;
};

/// The choice of the multiprocessors and queues of green contexts. By default they come from the current device, in
/// whole groups, and share the device's queues.
///
///     const cudag::GreenContext part(2, {.device = 0, .scattered = true});
struct GreenContextOptions {
    /// The device whose multiprocessors are taken; the current one if not given.
    std::optional<int> device = std::nullopt;
    /// Takes multiprocessors wherever they are: smaller parts, without thread block clusters larger than CUDA allows
    /// there. Otherwise each part consists of whole groups of multiprocessors, of 8 on an H100.
    bool scattered = false;
    std::optional<WorkqueueConfig> workqueues = std::nullopt;
};

/// A part of a device's multiprocessors. Kernels, fills and copies given to it run there only, also in a graph with
/// nodes of other parts or of the whole device.
///
///     const cudag::GreenContext part(8);
///     cudag::GraphBuilder b;
///     b.on(part).kernel(config, scale, x, 2.0f, n);
///
/// Copies refer to the same context. It lives until the last of its copies, and the last graph and Exec with nodes in
/// it: those keep it alive. Threads: all calls may run concurrently; as CUDA makes a green context current on one
/// thread at a time, only one thread at a time adds nodes to it, or updates its fills and copies.
class CUDAG_EXPORT GreenContext {
  public:
    /// In `split`: all multiprocessors left over by the other parts.
    static constexpr unsigned rest = ~0U;

    /// Takes at least `multiprocessors` of the device: CUDA rounds up to whole groups. Two contexts made in this way
    /// may share multiprocessors; `split` makes disjoint ones. Throws Error if the number is 0 or more than the device
    /// has, if there is no such device, or if the driver has no green contexts.
    explicit GreenContext(unsigned multiprocessors, const GreenContextOptions& options = {});

    /// Splits the device: returns a context for each count, which share no multiprocessors.
    ///
    ///     const auto parts = cudag::GreenContext::split({8, cudag::GreenContext::rest});
    ///
    /// One count may be `rest`. Throws Error as the constructor does, and if the counts, rounded up, are more than the
    /// device has.
    [[nodiscard]] static std::vector<GreenContext> split(std::initializer_list<unsigned> multiprocessors,
                                                         const GreenContextOptions& options = {}) {
        return split(std::span(multiprocessors.begin(), multiprocessors.size()), options);
    }
    [[nodiscard]] static std::vector<GreenContext> split(std::span<const unsigned> multiprocessors,
                                                         const GreenContextOptions& options = {});

    /// Returns the number of multiprocessors, after rounding.
    [[nodiscard]] unsigned multiprocessors() const noexcept;
    [[nodiscard]] int device() const noexcept;
    /// Returns CUDA's handle, borrowed: a CUcontext that the driver's calls accept.
    [[nodiscard]] CUctx_st* get() const noexcept;

    /// Whether both refer to the same context.
    [[nodiscard]] friend bool operator==(const GreenContext& a, const GreenContext& b) noexcept {
        return a.state_ == b.state_;
    }

  private:
    friend class GraphBuilder;
    friend class Stream;
    explicit GreenContext(std::shared_ptr<const detail::GreenContextState> state) noexcept;

    std::shared_ptr<const detail::GreenContextState> state_;
};

} // namespace cudag
