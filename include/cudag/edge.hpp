// What an edge of a graph waits for: all of a node, or only a part of a kernel.
#pragma once

#include <cudag/config.hpp>

#include <cstdint>
#include <string_view>

namespace cudag {

/// When the node at the end of an edge may start.
enum class EdgeKind : std::uint8_t {
    full,              ///< when the node before it has finished, and sees what it wrote
    programmatic,      ///< when every block of the kernel before it has triggered that, or has finished
    launch_completion, ///< when every block of the kernel before it has started
};

/// "full", "programmatic", "launch_completion"
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(EdgeKind kind) noexcept;

namespace detail {

/// A node to come after, earlier than when it has finished.
template <class Handle>
struct EarlyEdge {
    Handle node;
    EdgeKind kind;
};

} // namespace detail

/// For `kernel_b.after(programmatic(kernel_a))`, from kernel to kernel: b may start when every block of a has called
/// `cudaTriggerProgrammaticLaunchCompletion()` or has finished. The trigger makes nothing visible: b must call
/// `cudaGridDependencySynchronize()`, which waits until a has finished, before it touches what a writes, and before
/// it writes what a reads. A kernel that does not reads old values now and then: CUDA and cudag cannot see that.
/// b never ends before a, whether it waits or not, so what comes after b comes after a, too.
/// Both functions need a device of compute capability 9.0 or later.
template <class Handle>
[[nodiscard]] constexpr detail::EarlyEdge<Handle> programmatic(const Handle& node) noexcept {
    return {node, EdgeKind::programmatic};
}

/// The same, but b may start when every block of a has started: a needs no trigger. CUDA takes it as a wish: b may wait
/// longer, or start earlier where it finds room that a cannot use. So it counts as no order of what they do to memory:
/// a graph in which that would matter needs Races::allowed.
template <class Handle>
[[nodiscard]] constexpr detail::EarlyEdge<Handle> launch_completion(const Handle& node) noexcept {
    return {node, EdgeKind::launch_completion};
}

} // namespace cudag
