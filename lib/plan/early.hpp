// Early launch: programmatic edges to kernels that declare to wait for previous ones.
#pragma once

#include "joins.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// The part of a node in early launch.
enum class EarlyRole : unsigned char {
    other,   ///< no kernel, or on a device without early launch
    plain,   ///< a kernel: others may start before it has ended
    waiting, ///< in addition, it declares to wait, and may itself start before its predecessors have ended
};

struct EarlyNodes {
    std::vector<EarlyRole> roles{};        ///< by node; empty if no node may start early
    std::vector<std::uint32_t> contexts{}; ///< by node: the number of its context; empty if all are in one
};

/// The most successors of a kernel that still gain from early starts. From a kernel that does not call
/// cudaTriggerProgrammaticLaunchCompletion, programmatic edges to many successors take longer than full ones.
inline constexpr std::size_t most_early_successors = 3;

/// Makes full edges programmatic: those from kernels with few successors to waiting kernels of the same context. Edges
/// to nodes of `keeps_all` stay; the vector is empty if there are no such nodes.
///
/// The order of memory accesses stays as it is. Let B be a waiting kernel behind a programmatic edge from A.
///   - B touches memory only after its wait. The wait ends when A has ended, and makes the writes of A visible.
///   - B never ends before A. A node C after B, by a full edge or by its own wait, thus comes after A, too: an edge
///     from A to C stays redundant.
///   - A itself ends after all its predecessors, by the same argument. The wait of B for A thus covers them.
///   - B starts after the ends of its predecessors behind full edges: kinds of edges may differ at one node.
///   - Device-updatable kernels never count as waiting: such a node must not start before the kernel that changes it
///     has ended.
void plan_early(const EarlyNodes& nodes, const std::vector<bool>& keeps_all, PlannedEdges& planned);

} // namespace cudag::detail
