// Condition: the value tested by a conditional node, set by kernels.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace cudag {

namespace detail {
class GraphIdentity;
struct GraphSlot;
} // namespace detail

/// A Condition is the value that decides whether, which or how often a conditional node runs its bodies. It is made by
/// `GraphBuilder::condition` for one conditional node, and set by kernels during the launch.
///
///     cudag::DeviceScalar<unsigned> wanted(1U);
///     const cudag::Condition condition = b.condition(0);
///     auto set = b.set(condition, wanted);
///     b.if_(condition, [&](cudag::GraphBuilder& body) { body.kernel(config, step, x, n); }).after(set);
///
/// A Condition is a small value to copy. Kernels take it as an argument; the type of their parameter is Condition or
/// `cudaGraphConditionalHandle`. It belongs to its graph, and must not be used once the graph is gone. Threads, on the
/// host: the rule of its GraphBuilder.
class Condition {
  public:
    /// Returns CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphConditionalHandle native() const noexcept { return handle_; }

    /// Sets the value, in device code only. The conditional node reads it when it starts; a loop reads it again after
    /// each iteration. The kernel must run before the conditional node or inside it, on the same device.
    /// Concurrent calls are a race, even from two threads of one kernel: let one thread set the value. A kernel that
    /// takes a condition, alone or whole in an object, counts as a writer of it. Inferred edges order the writers
    /// before the conditional node and one after the other; without these edges, `build()` refuses unordered writers,
    /// as for memory.
    inline __device__ void
    set(unsigned value) const CUDAG_DEVICE_ONLY; // cudag: a Condition is set by kernels that have it

    friend bool operator==(const Condition&, const Condition&) = default;

    Condition() = delete; // cudag: a Condition comes from builder.condition()

  private:
    friend class detail::GraphIdentity;
    Condition(cudaGraphConditionalHandle handle, detail::GraphSlot* slot, std::uint32_t generation) noexcept
        : handle_(handle), slot_(slot), generation_(generation) {}

    cudaGraphConditionalHandle handle_;
    detail::GraphSlot* slot_; // host only: CUDA's handles are numbers, and equal in different graphs
    std::uint32_t generation_;
};

#ifdef CUDAG_DEVICE_CODE
inline __device__ void Condition::set(unsigned value) const {
    cudaGraphSetConditional(handle_, value);
}
#endif

} // namespace cudag
