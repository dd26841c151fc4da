// Condition: the number that a conditional node looks at, set by kernels.
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

/// The value that decides whether, which or how often a conditional node runs its bodies. Made by
/// `GraphBuilder::condition`, given to one conditional node, and to the kernels that set it as an argument, whose
/// parameter is a Condition or a `cudaGraphConditionalHandle`: a small value to copy. It belongs to its graph, and must
/// not be used after it. Threads, on the host: as its GraphBuilder.
class Condition {
  public:
    /// CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphConditionalHandle native() const noexcept { return handle_; }

    /// Device only: what the conditional node sees when it starts, and a loop after each turn. The kernel must run
    /// before the conditional node or inside it, on its device. Calls that may run at the same time are a race, also
    /// those of two threads of one kernel: let one thread set it. Kernels that take a condition, alone or whole in an
    /// object, count as setting it: where edges are inferred they come before the conditional and one after the other,
    /// else `build()` refuses those that nothing orders, as it does for memory.
    inline __device__ void
    set(unsigned value) const CUDAG_DEVICE_ONLY; // cudag: a Condition is set by kernels that have it

    friend bool operator==(const Condition&, const Condition&) = default;

    Condition() = delete; // cudag: a Condition comes from builder.condition()

  private:
    friend class detail::GraphIdentity;
    Condition(cudaGraphConditionalHandle handle, detail::GraphSlot* slot, std::uint32_t generation) noexcept
        : handle_(handle), slot_(slot), generation_(generation) {}

    cudaGraphConditionalHandle handle_;
    detail::GraphSlot* slot_; // host only: CUDA's handles are numbers, alike in different graphs
    std::uint32_t generation_;
};

#ifdef CUDAG_DEVICE_CODE
inline __device__ void Condition::set(unsigned value) const {
    cudaGraphSetConditional(handle_, value);
}
#endif

} // namespace cudag
