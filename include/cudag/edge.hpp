// The kinds of edges, and programmatic edges between kernels.
#pragma once

#include <cudag/config.hpp>

#include <cstdint>
#include <string_view>

namespace cudag {

/// The moment when the node at the end of an edge may start.
enum class EdgeKind : std::uint8_t {
    full,              ///< when the earlier node has finished; its writes are visible
    programmatic,      ///< when every block of the earlier kernel has triggered the launch, or has finished
    launch_completion, ///< when every block of the earlier kernel has started
};

/// Returns the name of a kind: "full", "programmatic" or "launch_completion".
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(EdgeKind kind) noexcept;

namespace detail {

/// A dependency that is met before its node has finished.
template <class Handle>
struct EarlyEdge {
    Handle node;
    EdgeKind kind;
};

} // namespace detail

/// Makes a programmatic edge between two kernels, CUDA's programmatic dependent launch (PDL):
/// `b.after(programmatic(a))`. Kernel b may start when every block of a has called
/// `cudaTriggerProgrammaticLaunchCompletion()` or has finished.
///
///     auto first = b.kernel(config, step, x, n);
///     b.kernel(config, add, x, y, y, n).after(cudag::programmatic(first));
///
/// - The trigger makes no memory visible. Kernel b must call `cudaGridDependencySynchronize()`, which waits until a has
///   finished, before it touches memory written by a, and before it writes memory read by a.
/// - A kernel without this call sometimes reads old values: neither CUDA nor cudag can detect this.
/// - Kernel b never ends before a, with or without the call. So all nodes after b come after a, too.
/// - Both functions need a device of compute capability 9.0 or later.
template <class Handle>
[[nodiscard]] constexpr detail::EarlyEdge<Handle> programmatic(const Handle& node) noexcept {
    return {node, EdgeKind::programmatic};
}

/// Makes a launch-completion edge between two kernels: `b.after(launch_completion(a))`. Kernel b may start when every
/// block of a has started; a needs no trigger. CUDA treats the edge as a hint: b may wait longer, or start earlier in
/// room that a cannot use. The edge therefore does not order memory accesses: the graph needs Races::allowed if no
/// other path orders conflicting accesses of a and b.
template <class Handle>
[[nodiscard]] constexpr detail::EarlyEdge<Handle> launch_completion(const Handle& node) noexcept {
    return {node, EdgeKind::launch_completion};
}

} // namespace cudag
